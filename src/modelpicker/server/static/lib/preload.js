/**
 * Fetches what the first view needs, while the rest of the page is still under way. Without this a browser would find
 * one module after the other. It is no module, so that it runs as soon as it is there.
 */

{
  /** What each view needs beside what every view needs, without the ending. @type {Record<string, string[]>} */
  const MODULES = {
    campaigns: [
      'parts/state_badge', 'views/campaigns',
    ],
    new: [
      'parts/column_table', 'parts/feed_choice', 'parts/number_of_each', 'parts/option_field', 'parts/pool_fields', 'parts/stream_fields',
      'state/prediction_file', 'views/create',
    ],
    label: [
      'lib/diff', 'lib/media', 'parts/answer_cards', 'parts/campaign_head', 'parts/class_picker', 'parts/class_search', 'parts/guidelines',
      'parts/help', 'parts/item', 'parts/judge', 'parts/keyboard_shortcuts', 'parts/markdown', 'parts/new_class',
      'parts/next_steps', 'parts/note', 'parts/press_guard', 'parts/state_badge', 'parts/text', 'state/half_graded', 'state/judgement',
      'state/labeller', 'state/media', 'state/recent_classes', 'views/label',
    ],
    standing: [
      'lib/media', 'lib/plot', 'lib/save', 'parts/campaign_head', 'parts/chart', 'parts/disagreement',
      'parts/headline', 'parts/interval_bar', 'parts/item', 'parts/leader_board', 'parts/markdown',
      'parts/moving_rows', 'parts/next_steps', 'parts/slice_table', 'parts/standing_charts', 'parts/state_badge', 'parts/text',
      'state/live_standing', 'state/media', 'state/model_colours', 'views/standing',
    ],
    labels: [
      'lib/media', 'parts/campaign_head', 'parts/conflicts', 'parts/correct', 'parts/item', 'parts/label_words',
      'parts/markdown', 'parts/text', 'state/judgement', 'views/labels',
    ],
    files: [
      'parts/campaign_head', 'parts/column_table', 'parts/feed_choice', 'parts/state_badge', 'state/prediction_file',
      'views/files',
    ],
    settings: [
      'parts/campaign_head', 'parts/state_badge', 'views/settings',
    ],
    preferences: [
      'views/preferences',
    ],
  };
  const [first, , tab] = location.hash.replace(/^#?\/?/, '').split('/');
  const { src } = /** @type {HTMLScriptElement} */ (document.currentScript);
  for (const name of MODULES[first === 'c' ? tab : first || 'campaigns'] ?? []) {
    const link = document.createElement('link');
    link.rel = 'modulepreload';
    link.href = new URL(`../${name}.js`, src).href;
    document.head.append(link);
  }
}
