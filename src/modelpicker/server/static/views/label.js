/** The labelling view: one item and its classes. After an answer, the next item is shown at once. */

import { count, itemName, list, number, text } from '../lib/format.js';
import { html, useEffect, useLayoutEffect, useRef, useState } from '../lib/html.js';
import { CampaignHead } from '../parts/campaign_head.js';
import { ClassPicker } from '../parts/class_picker.js';
import { Guidelines } from '../parts/guidelines.js';
import { Help } from '../parts/help.js';
import { Item } from '../parts/item.js';
import { Answers, Judge, JudgeActions, nowAsked, useJudging } from '../parts/judge.js';
import { useKeyboardShortcuts } from '../parts/keyboard_shortcuts.js';
import { Failure, Loading, useLoaded } from '../parts/loading.js';
import { Messages } from '../parts/messages.js';
import { AskMore, Finish, GoOn, ReportLink } from '../parts/next_steps.js';
import { NoteDialog, OwnNote } from '../parts/note.js';
import { usePressGuard } from '../parts/press_guard.js';
import { asks, isFinished, isIdle, isOver, StateBadge, StateLine } from '../parts/state_badge.js';
import { plainText } from '../parts/text.js';
import { annotator } from '../state/annotator.js';
import { api } from '../state/api.js';
import { connection } from '../state/connection.js';
import { forgetGrades } from '../state/half_graded.js';
import { labelWords } from '../state/judgement.js';
import { Labeller } from '../state/labeller.js';
import { useMedia } from '../state/media.js';
import { outboxes } from '../state/outboxes.js';
import { markUsed, recentClasses } from '../state/recent_classes.js';
import { go, inCampaign } from '../state/router.js';
import { session } from '../state/session.js';
import { useStore } from '../state/store.js';

const LOOK_AGAIN = 5_000;
const POOL = 'pool-picker';
const WIDE = '(min-width: 1000px)'; // room for the leaders beside the item

/** @param {{name: string}} props */
export function LabelView({ name }) {
  return html`<div class="label-view">
    <${CampaignHead} name=${name} tab="label">${session.labels && html`<${NameBox} />`}<//>
    <div class="work">
      <${Messages} />
      ${session.labels ? html`<${Work} name=${name} />` : html`<${ReadOnly} name=${name} />`}
    </div>
  </div>`;
}

/** Tells a reader why there is nothing to do here. @param {{name: string}} props */
function ReadOnly({ name }) {
  return html`<div class="card empty">
    <h2>You can read, but not label</h2>
    <p>You are signed in as a reader. To label, sign in with the token of an annotator or an owner.
      Whoever runs this server can give you one.</p>
    <p class="actions"><a class="button primary" href=${inCampaign(name, 'standing')}>See the standing</a></p>
  </div>`;
}

/** @param {{name: string}} props */
function Work({ name }) {
  const labeller = useStore(useLabeller(name));
  const { value: vocabulary, error, again } = useLoaded(() => api.classes(name), [name]);
  const failure = !labeller?.current && labeller?.error?.temporary === false ? labeller.error : null;
  const refused = failure ?? (error?.temporary === false ? error : null);
  if (refused) return html`<${Failure} error=${refused} again=${() => { again(); labeller?.fill(); }} />`;
  if (!labeller || !vocabulary || (labeller.pending === null && labeller.loading)) {
    return html`<${Loading} what="the next item" error=${error ?? labeller?.error} />`;
  }
  return html`<${Desk} key=${name} ...${{ name, labeller, vocabulary, refresh: again }} />`;
}

/**
 * A labeller, as soon as the id of this tab is settled. It stays when the annotator's name changes: a new one would
 * start without an item, and remove the box in which somebody types.
 * @param {string} name
 */
function useLabeller(name) {
  const [labeller, setLabeller] = useState(/** @type {Labeller|null} */ (null));
  const { id } = useStore(annotator);
  useLayoutEffect(() => {
    /** @type {Labeller|null} */
    let made = null;
    let wanted = true;
    annotator.ready.then(() => {
      if (!wanted) return;
      made = new Labeller(name, annotator.id, outboxes.forCampaign(name));
      made.start();
      setLabeller(made);
    });
    return () => {
      wanted = false;
      made?.stop();
      setLabeller(null);
    };
  }, [name]);
  useLayoutEffect(() => labeller?.rename(annotator.id), [labeller, id]);
  return labeller;
}

/** @param {{name: string, labeller: Labeller, vocabulary: Api.Classes, refresh: () => void}} props */
function Desk({ name, labeller, vocabulary, refresh }) {
  const [shown, setShown] = useState(false);
  const [help, setHelp] = useState(false);
  const [noting, setNoting] = useState(/** @type {Api.Waiting|null} */ (null));
  const [slots, setSlots] = useState(() => recentClasses(name));
  const [added, setAdded] = useState(/** @type {Name[]} */ ([]));
  const classes = [...vocabulary.classes, ...added.filter((label) => !vocabulary.classes.includes(label))];
  const { current } = labeller;
  const wide = useMedia(WIDE);
  const mayAnswer = usePressGuard(current?.id);
  const [undone, setUndone] = useState(0);
  const mayUndo = usePressGuard(undone); // an answer may be undone at once, but a double click undoes one
  /** @type {{current: Element}} */
  const pane = useRef(null);
  const may = (/** @type {UIEvent} */ event) => current !== null && current === labeller.current && mayAnswer(event);
  const answer = (/** @type {UIEvent} */ event, /** @type {() => void} */ act) => {
    const taken = may(event);
    if (taken || event.detail > 0) leaveButton(pane.current); // a second click puts the focus back there
    if (taken) {
      if (current) forgetGrades(name, current.id);
      act();
    }
    return taken;
  };
  /** @type {Choose} */
  const choose = (label, event) => answer(event, () => {
    labeller.answer(label);
    setSlots(markUsed(name, slots, label));
    if (!classes.includes(label)) setAdded([...added, label]);
  });
  const { askFor } = labeller;
  const judged = askFor !== 'class';
  const { last } = labeller;
  const judging = useJudging(name, judged ? current : null, last?.did === 'undo' && last.query.id === current?.id ? last.label : null);
  const tell = (/** @type {Api.LabelDocument} */ label, /** @type {UIEvent} */ event) => answer(event, () => labeller.answer(label));
  const said = judged ? null : current?.classes ?? null; // cards show it already
  const toggle = () => said && setShown(!shown);
  const skip = (/** @type {UIEvent} */ event) => answer(event, () => labeller.skip());
  const undo = (/** @type {UIEvent} */ event) => {
    if (event.detail > 1 && !mayUndo(event)) return;
    labeller.undo();
    setUndone(undone + 1);
  };
  const write = () => setNoting(current);
  const flag = () => current && labeller.note(current, { text: current.note?.text ?? '', flagged: !current.note?.flagged });
  useKeyboardShortcuts({ s: skip, u: undo, 'mod+z': undo, p: toggle, f: flag, [noteKey(askFor)]: write, m: () => plainText.toggle(),
    '?': () => setHelp(true) });
  const recent = slots.map((slot) => slot.name).filter((label) => classes.includes(label));
  const campaign = useCampaign(name, labeller);
  return html`<div class="desk">
    <div class="bench">
      <${StateOf} name=${name} labeller=${labeller} campaign=${campaign} />
      <div class=${judged ? `item-pane judged ${askFor}` : 'item-pane'} ref=${pane}>
        ${current
          ? html`<${Card} query=${current} progress=${progress(labeller, campaign)} said=${shown ? said : null}
              guidelines=${html`<${Guidelines} name=${name} text=${campaign?.guidelines ?? ''} />`} />`
          : html`<${NothingToLabel} name=${name} labeller=${labeller} />`}
        ${judging && html`<${Answers} kind=${askFor} judging=${judging} />`}
      </div>
      <div class="panel">
        ${judging && html`<${Judge} kind=${askFor} ...${{ judging, may, tell }} />`}
        ${current && !judged && html`<${ClassPicker} ...${{ classes, candidates: current.candidates, open: vocabulary.open,
          recent, refresh, choose }} />`}
        <div class="label-actions">
          ${judging && html`<${JudgeActions} kind=${askFor} ...${{ judging, tell }} />`}
          <${ActionButton} what="Skip" shortcut="s" disabled=${!current} act=${skip} />
          <${ActionButton} what="Undo" shortcut="u" disabled=${!labeller.history.length} act=${undo} />
          <${ActionButton} what="Flag" shortcut="f" disabled=${!current} pressed=${current?.note?.flagged ?? false} act=${flag} />
          <${ActionButton} what="Note" shortcut=${noteKey(askFor)} disabled=${!current} act=${write} />
          ${said && html`<${ActionButton} what="Predictions" shortcut="p" pressed=${shown} act=${toggle} />`}
          <button type="button" class="help-button" aria-label="Keys and help" aria-keyshortcuts="?"
            onClick=${() => setHelp(true)}>?</button>
        </div>
        <div class="last-line">
          <p class="last-action" role="status">${lastAction(last, current, nowAsked(askFor, judging))}</p>
          ${isAnswer(last) && html`<button type="button" class="quiet" onClick=${() => setNoting(last.query)}>
            Note<span class="sr-only"> about ${itemName(last.query)}</span></button>`}
        </div>
      </div>
    </div>
    ${wide && session.seesStanding && html`<${Leaders} name=${name} />`}
    <${Help} kind=${askFor} open=${help} close=${() => setHelp(false)} />
    ${noting && html`<${NoteDialog} key=${noting.id} query=${noting} close=${() => setNoting(null)}
      save=${(note) => labeller.note(noting, note)} />`}
  </div>`;
}

/** The leaders beside the item. They are fetched after it, and their place is kept. @param {{name: string}} props */
function Leaders({ name }) {
  const [Aside, setAside] = useState(/** @type {((props: {name: string}) => object)|null} */ (null));
  useEffect(() => {
    import('../parts/leader_aside.js').then(({ LeaderAside }) => setAside(() => LeaderAside), () => undefined);
  }, []);
  return Aside ? html`<${Aside} name=${name} />` : html`<aside class="leader-aside" aria-label="Standing"></aside>`;
}

/**
 * Put the focus on the item. If it stayed on the button or in the box, Enter and Space would answer the next item too.
 * @param {Element} pane
 */
function leaveButton(pane) {
  /** @type {HTMLElement|null} */
  const item = pane.querySelector('.item-scroll');
  if (document.activeElement?.closest('.panel')) item?.focus({ preventScroll: true });
}

/**
 * @param {{what: string, shortcut: string, disabled?: boolean, pressed?: boolean, act: (event: UIEvent) => void}} props
 */
function ActionButton({ what, shortcut, disabled = false, pressed, act }) {
  return html`<button type="button" disabled=${disabled} aria-pressed=${pressed} aria-keyshortcuts=${shortcut}
      onClick=${act}>
    ${what} <kbd aria-hidden="true">${shortcut}</kbd>
  </button>`;
}

/**
 * The item in its own frame. A long item scrolls inside it, so that the buttons below do not move.
 * @param {{query: Api.Waiting, progress: string, said: Name[]|null, guidelines: object}} props
 */
function Card({ query, progress: words, said, guidelines }) {
  /** @type {{current: Element}} */
  const frame = useRef(null);
  useLayoutEffect(() => frame.current.scrollTo(0, 0), [query.id]);
  return html`<article class="card item-card" aria-label=${`Item ${itemName(query)}`}>
    <header>
      <span class="item-name" dir="auto" title=${itemName(query)}>${itemName(query)}</span>
      <span class="quiet-text progress">${words}</span>
    </header>
    ${guidelines}
    <div class="item-scroll" ref=${frame} tabindex="0" role="group" aria-label=${`Content of ${itemName(query)}`}>
      <${Item} key=${query.id} query=${query} />
    </div>
    <${OwnNote} note=${query.note} />
    ${said && html`<p class="said">The models said <bdi>${list(said.map(text))}</bdi>.</p>`}
  </article>`;
}

/**
 * How far it has come. On a pool nobody knows how many questions will come, so what is done is counted, and what is
 * to come is estimated.
 * @param {Labeller} labeller @param {Api.Described|null} campaign
 */
function progress(labeller, campaign) {
  const own = `${number(labeller.own ?? 0)} by you`;
  if (campaign?.algorithm !== POOL) return labeller.left === null ? '' : `${own}, ${count(labeller.left, 'item')} to label`;
  const all = Math.max(labeller.labels ?? 0, campaign.labels_used); // whichever is newer
  const team = campaign.budget === null ? `${number(all)} in all` : `${number(all)} of at most ${number(campaign.budget)}`;
  const toGo = campaign.to_go && asks(campaign.state) ? `, ${campaign.to_go.words}` : '';
  return `${own}, ${team}${toGo}`;
}

/**
 * The last action in words, also for screen readers.
 * @param {Labeller['last']} last @param {Api.Waiting|null} current
 * @param {{asked: string, started: boolean}} now what is asked; `started`: a part of it is answered, so that the last item is past
 */
function lastAction(last, current, { asked, started }) {
  if (!last || started) {
    const hint = html`<span class="key-hint"> Click it, or press its key; ? shows them all.</span>`;
    return current && html`${asked}${!started && hint}`;
  }
  const item = html`<bdi>${itemName(last.query)}</bdi>`;
  if (last.did === 'note') return html`${noted(last.query.note)} ${item}.`;
  if (last.did === 'undo') return html`Undone: ${item} is back.`;
  const next = current && html`<span class="sr-only"> Next: ${itemName(current)}.</span>`;
  const label = html`<strong><bdi>${spoken(last.label, last.query)}</bdi></strong>`;
  return last.did === 'skip' ? html`Skipped ${item}.${next}` : html`Labelled ${item} ${label}.${next}`;
}

/** What was said about an item, in words: long answers are not repeated. @param {Answer|null} label @param {Api.Waiting} query */
const spoken = (label, { candidates }) => (
  label === null || typeof label !== 'object' ? text(label) : labelWords(label, candidates ?? []));

/** The key for a note: where answers are graded, `n` says that one is wrong. @param {string} askFor */
const noteKey = (askFor) => (askFor === 'grades' ? 'c' : 'n');

/** What was done to a note, in words. @param {Api.OwnNote|null} note */
const noted = (note) => (note?.flagged ? 'Flagged' : note?.text ? 'Noted about' : 'No flag and no note on');

/** Whether the last action was an answer. @param {Labeller['last']} last @returns {last is NonNullable<Labeller['last']>} */
const isAnswer = (last) => last?.did === 'label' || last?.did === 'skip';

/** @param {{name: string, labeller: Labeller}} props */
function NothingToLabel({ name, labeller }) {
  if (labeller.loading && connection.up) {
    return html`<div class="card item-card"><${Loading} what="the next item" /></div>`;
  }
  if (!connection.up || labeller.error) {
    return html`<div class="card empty"><h2>Nothing more is loaded</h2>
      <p dir="auto">${labeller.error?.message ?? 'The server cannot be reached.'}</p>
      <p>What you labelled is kept here, and the next item comes as soon as the server answers.</p></div>`;
  }
  const others = (labeller.pending ?? 0) > 0 && (labeller.left ?? 0) > 0; // or nobody is asked: see below
  return html`<${Done} name=${name} labeller=${labeller} others=${others} />`;
}

/**
 * There is nothing to label: others have the remaining items, or the state of the campaign says why.
 * @param {{name: string, labeller: Labeller, others: boolean}} props
 */
function Done({ name, labeller, others: taken }) {
  const { value: campaign, again } = useLoaded(() => api.campaign(name), [name, labeller.pending]);
  const changed = () => {
    again();
    labeller.fill();
  };
  if (!campaign) return html`<div class="card item-card"><${Loading} what="how it stands" /></div>`;
  const { state } = campaign;
  const others = taken && !isIdle(state) && !isFinished(state) && !isOver(state);
  const rest = labeller.left ?? 0;
  const left = campaign.overlap === 1
    ? `${count(rest, 'item')} ${rest === 1 ? 'is' : 'are'} with other annotators just now.`
    : `${count(rest, 'item')} ${rest === 1 ? 'waits' : 'wait'} for other people.`;
  const more = state.name === 'running' || state.name === 'waiting-for-labels';
  return html`<div class="card empty">
    <h2>${others ? 'Others have the rest' : more ? 'Nothing to label just now' : state.title}</h2>
    <p>${others ? left : state.reason}</p>
    ${more && html`<p>As soon as there is an item for you, it appears here.</p>`}
    ${!more && !session.owns && html`<p>The owner of the campaign decides what happens next.
      If there is another item for you, it appears here.</p>`}
    ${session.owns && !others && html`<p>${state.next}</p>`}
    <${Steps} name=${name} campaign=${campaign} others=${others} changed=${changed} />
  </div>`;
}

/**
 * Where to go next. The main button is the next step that the state names; while others label there is no main button.
 * @param {{name: string, campaign: Api.Described, others: boolean, changed: () => void}} props
 */
function Steps({ name, campaign: { state, algorithm, budget, more: offered }, others, changed }) {
  if (!session.seesStanding) return null;
  const adds = session.owns && state.takes_items && algorithm !== POOL;
  const idle = isIdle(state) && session.owns;
  const settles = state.name === 'conflicts' && session.owns;
  const finishes = session.owns && isOver(state);
  const more = session.owns && state.name === 'budget-spent' && algorithm === POOL && budget !== null;
  const main = others || more || finishes || isFinished(state) || state.name === 'waiting-for-labels' ? null
    : idle ? 'settings' : settles ? 'labels' : state.name === 'running' && adds ? 'files' : 'standing';
  const step = (/** @type {'files'|'standing'|'settings'|'labels'} */ view, /** @type {string} */ words) => html`
    <a key=${view} class=${view === main ? 'button primary' : 'button'} href=${inCampaign(name, view)}>${words}</a>`;
  const result = isOver(state) || isFinished(state);
  const steps = [step('standing', result ? 'See the result' : 'See the standing')];
  if (settles) steps.unshift(step('labels', 'Settle conflicts'));
  if (adds) steps.push(step('files', 'Add predictions'));
  if (idle) steps.push(step('settings', state.name === 'paused' ? 'Resume it' : 'Restore it'));
  if (session.owns && state.name === 'budget-spent' && !more) steps.push(step('settings', 'Raise the budget'));
  return html`<p class="actions">
    ${finishes && html`<${Finish} name=${name} done=${changed} />`}
    ${more && html`<${AskMore} name=${name} budget=${budget} offered=${offered} main done=${changed} />`}
    ${(result || more) && html`<${ReportLink} name=${name} main=${isFinished(state)} />`}
    ${main === 'files' || main === 'settings' ? steps.reverse() : steps}
    ${session.owns && isFinished(state) && html`<${GoOn} name=${name} done=${changed} />`}
  </p>`;
}

/** The campaign as it is now, looked at again every few seconds. @param {string} name @param {Labeller} labeller */
function useCampaign(name, labeller) {
  const { value, again } = useLoaded(() => api.campaign(name), [name, labeller.current === null]);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), LOOK_AGAIN);
    return () => clearInterval(timer);
  }, [name]);
  return value;
}

/**
 * The state of the campaign while somebody labels. The line is always there, so that nothing moves.
 * @param {{name: string, labeller: Labeller, campaign: Api.Described|null}} props
 */
function StateOf({ name, labeller, campaign }) {
  const over = labeller.current && campaign && isOver(campaign.state);
  return html`<div class="state-strip" role="status">
    ${campaign && (campaign.state.name === 'waiting-for-labels'
      ? html`<p class="state-line"><${StateBadge} state=${campaign.state} /></p>` // the item's card says how many
      : html`<${StateLine} state=${campaign.state} next=${isOver(campaign.state) && session.owns} />`)}
    ${over && session.seesStanding && html`<a class=${session.owns ? 'button' : 'button primary'}
      href=${inCampaign(name, 'standing')}>See the result</a>`}
    ${over && session.owns && html`<${Finish} name=${name} done=${() => go(inCampaign(name, 'standing'))} />`}
  </div>`;
}

/** A box for an optional name, under which labels are recorded. */
function NameBox() {
  const { name } = useStore(annotator);
  const [typed, setTyped] = useState(name);
  return html`<label class="name-box">
    <span class="sr-only">Your name, optional</span>
    <input type="text" value=${typed} placeholder="Your name (optional)" maxlength="60" autocomplete="nickname"
      onInput=${(event) => setTyped(event.currentTarget.value)}
      onChange=${() => annotator.rename(typed)}
      onKeyDown=${(event) => event.key === 'Enter' && event.currentTarget.blur()} />
  </label>`;
}
