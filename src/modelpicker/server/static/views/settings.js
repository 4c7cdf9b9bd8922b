/** Everything about a campaign; for owners also what may be changed while it continues. */

import { count, lossOf, number, percent, points, pointsOf, text } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { CampaignHead } from '../parts/campaign_head.js';
import { Input, Lines, Select } from '../parts/fields.js';
import { Failure, Loading, useLoaded } from '../parts/loading.js';
import { isOver, StateLine } from '../parts/state_badge.js';
import { api, downloadUrl } from '../state/api.js';
import { go, home, inCampaign } from '../state/router.js';
import { session } from '../state/session.js';

/** @typedef {{campaign: Api.Described, change: (terms: Api.NewTerms) => Promise<void>}} Part */

/** @type {[string, string][]} */
const KINDS = [['stream', 'the items seen so far'], ['population', 'items like these']];

/** @param {{name: string}} props */
export function SettingsView({ name }) {
  const { value, error, again } = useLoaded(() => api.campaign(name), [name]);
  const [changed, setChanged] = useState(/** @type {Api.Described|null} */ (null));
  const [failed, setFailed] = useState(/** @type {RequestError|null} */ (null));
  const [saved, setSaved] = useState('');
  const campaign = changed ?? value;
  const change = async (/** @type {Api.NewTerms} */ terms) => {
    setFailed(null);
    setSaved('');
    try {
      const found = await api.revise(name, terms);
      if (found.name !== name) go(inCampaign(found.name, 'settings'));
      else {
        setChanged(found);
        setSaved('Saved.');
      }
    } catch (problem) {
      setFailed(/** @type {RequestError} */ (problem));
    }
  };
  const body = () => {
    if (error?.temporary === false) return html`<${Failure} error=${error} again=${again} />`;
    if (!campaign) return html`<${Loading} what="the settings" error=${error} />`;
    const part = { campaign, change };
    return html`
      <p class="form-error" role="alert" dir="auto">${failed?.message}</p>
      <p class="saved" role="status">${saved}</p>
      ${session.owns && html`<${Activity} ...${part} /><${Goal} key=${campaign.budget} ...${part} />
        <${GuidelinesForm} ...${part} />`}
      <${About} campaign=${campaign} />
      ${session.owns && html`<${Name} ...${part} /><${Remove} campaign=${campaign} />`}`;
  };
  return html`<div class="files-view settings-view">
    <${CampaignHead} name=${name} tab="settings" />
    ${body()}
  </div>`;
}

/** Pause, resume, archive. @param {Part} props */
function Activity({ campaign: { state, paused, archived, finished }, change }) {
  return html`<section class="card form" aria-labelledby="activity-title">
    <h2 id="activity-title">State</h2>
    <${StateLine} state=${state} next=${false} />
    <p class="actions">
      ${!archived && html`<button type="button" class=${finished || isOver(state) ? 'primary' : ''}
        onClick=${() => change({ finished: !finished })}>${finished ? 'Go on' : 'Finish'}</button>`}
      ${!archived && !finished && html`<button type="button" class=${paused ? 'primary' : ''}
        onClick=${() => change({ paused: !paused })}>${paused ? 'Resume' : 'Pause'}</button>`}
      <button type="button" class=${archived ? 'primary' : ''} onClick=${() => change({ archived: !archived })}>
        ${archived ? 'Restore it' : 'Archive'}</button>
    </p>
    <p class="quiet-text">Finish when you take the result: open questions are withdrawn. While it is paused, nobody is asked for labels and no items are taken. An archived campaign
      takes nothing, and stands at the end of the list.</p>
  </section>`;
}

const POOL = 'pool-picker';
const ANEW = 'Another value begins the proof again, with the labels that are known.';

/** A share as it is typed. @param {number} share */
const asPercent = (share) => String(Number((share * 100).toPrecision(6)));

/**
 * The goal that holds now; null if there is none.
 * @param {Pick<Api.Described, 'stop_when'|'options'>} campaign
 */
function goalNow({ stop_when: rule, options }) {
  if (rule) return { gap: rule.gap ?? 0.01, confidence: rule.confidence ?? 0.95 };
  return 'tolerance' in options ? { gap: Number(options.tolerance), confidence: Number(options.confidence ?? 0.95) } : null;
}

/** The budget and the goal. @param {Part} props */
function Goal({ campaign: { budget, stop_when: rule, options, algorithm, labels_used: labels, pending, ask_for: askFor }, change }) {
  const pool = algorithm === POOL;
  const fixed = algorithm === 'race' && 'tolerance' in options; // it stops by itself
  const now = goalNow({ stop_when: rule, options });
  const [most, setMost] = useState(budget === null ? '' : String(budget));
  const [gap, setGap] = useState(now ? asPercent(now.gap) : '');
  const [sure, setSure] = useState(asPercent(now?.confidence ?? 0.95));
  const [kind, setKind] = useState(rule?.kind ?? 'population');
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const goal = /** @type {Api.StoppingRule} */ ({ gap: Number(gap) / 100, confidence: Number(sure) / 100, ...(pool ? {} : { kind }) });
    const same = now && asPercent(now.gap) === gap && asPercent(now.confidence) === sure;
    const kept = fixed || (pool && same); // another tolerance would begin the proof of a pool again
    change({ budget: most === '' ? null : Number(most), ...(kept ? {} : { stop_when: gap === '' ? null : goal }) });
  };
  const spent = `${count(labels, 'label')} ${labels === 1 ? 'is' : 'are'} bought`
    + `${pending > 0 ? `, ${number(pending)} more ${pending === 1 ? 'is' : 'are'} asked for` : ''}. Empty: no limit.`;
  return html`<form class="card form" onSubmit=${submit} aria-labelledby="goal-title">
    <h2 id="goal-title">Budget and goal</h2>
    <${Input} label="Labels at most" hint=${spent} type="number" min=${labels + pending} step="1" value=${most} set=${setMost} />
    ${fixed
      ? html`<p class="quiet-text">It stops by itself, within ${points(Number(options.tolerance))} of the best
          model with confidence ${percent(Number(options.confidence))}. That was fixed when the campaign began.</p>`
      : html`<div class="two">
          <${Input} label="Stop when this close to the best" 
            hint=${`Percentage points ${pointsOf(lossOf(askFor, options))}. ${pool ? ANEW : 'Empty: it does not stop by itself.'}`}
            type="number" min="0" max="99" step="any" value=${gap} set=${setGap} required=${pool} />
          <${Input} label="Confidence" hint="Per cent." type="number" min="50" max="99.999" step="any" value=${sure}
            set=${setSure} disabled=${gap === ''} />
          ${!pool && html`<${Select} label="About" value=${kind} set=${setKind} options=${KINDS} disabled=${gap === ''} />`}
        </div>`}
    <p class="actions"><button class="primary">Save</button></p>
  </form>`;
}

/** What annotators read beside the item. @param {Part} props */
function GuidelinesForm({ campaign: { guidelines }, change }) {
  const [typed, setTyped] = useState(guidelines);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    change({ guidelines: typed.trim() });
  };
  return html`<form class="card form" onSubmit=${submit}>
    <h2>Guidelines</h2>
    <${Lines} label="For annotators" rows="5" maxlength="10000" value=${typed} set=${setTyped}
      hint="They are shown beside the item. **Bold**, lists, links and other Markdown are understood." />
    <p class="actions"><button disabled=${typed.trim() === guidelines}>Save guidelines</button></p>
  </form>`;
}

/** Options that are said in words. */
const SAID = ['judge', 'slice', 'loss', 'price', 'label_noise'];
const GOAL = ['tolerance', 'confidence'];
const ASKED = { class: 'the class of an item', grades: 'a grade for each different answer', preference: 'which of two answers is better' };
const MEASURED = { class: 'accuracy', grades: 'the mean grade', preference: 'how often an answer is preferred' };
const MISSING = { abstained: 'the model has no answer, which counts as wrong', 'not-run': 'the model was not run for this item' };

/** What counts as the same answer, in words. @param {string|number} same */
function sameWords(same) {
  if (same === 'exact') return 'text that is equal exactly';
  return same === 'normalised' ? 'text that is equal except for capitals, spaces and punctuation at the ends'
    : `numbers that differ by at most ${same}, and text that is equal except for capitals and punctuation`;
}

/** How many people label an item, and when they agree. @param {Api.Described} campaign */
function peopleWords({ overlap, overlap_rule: rule }) {
  if (overlap === 1) return 'one';
  const people = overlap > 1 ? number(overlap) : `two for ${percent(overlap)} of the items, one for the others`;
  return `${people}; ${rule === 'majority' ? 'the answer of more than half of them counts' : 'their answer counts if all agree'}, else the owner settles it`;
}

/** @param {Api.Described} campaign */
function goalOf(campaign) {
  const goal = goalNow(campaign);
  return goal ? `within ${points(goal.gap)} ${pointsOf(lossOf(campaign.ask_for, campaign.options))}, confidence ${percent(goal.confidence)}` : 'none';
}

/** All that is fixed, and all that is known. @param {{campaign: Api.Described}} props */
function About({ campaign }) {
  const { models, classes, options, costs } = campaign;
  const pool = campaign.algorithm === POOL;
  const fact = (/** @type {string} */ name, /** @type {string|undefined} */ words) => (words ? [/** @type {[string, string]} */ ([name, words])] : []);
  const list = (/** @type {Name[]|null} */ names, /** @type {string} */ none) => (names === null ? none
    : `${number(names.length)}: ${names.map(text).join(', ')}`);
  /** @type {[string, string][]} */
  const facts = [
    ['Created', campaign.created.slice(0, 16).replace('T', ' ') + ' UTC'],
    ['Algorithm', campaign.algorithm],
    ...Object.entries(options).filter(([name]) => !SAID.includes(name) && !(pool && GOAL.includes(name))).map(([name, value]) => /** @type {[string, string]} */ ([name, String(value ?? 'none')])),
    ['Seed', campaign.seed],
    ['Models', list(models, 'hidden')],
    ...(campaign.ask_for === 'class' ? fact('Classes', list(classes, 'whatever models and labels say')) : []),
    ['Budget', campaign.budget === null ? 'none' : `${number(campaign.budget)} labels, ${campaign.budget_way}`],
    ['Goal', goalOf(campaign)],
    ['Asked for', ASKED[campaign.ask_for]],
    ['Same answer', sameWords(campaign.same)],
    ['What is measured', costs.loss ?? MEASURED[campaign.ask_for]],
    ...fact('Prices', costs.price && `${costs.price}. The pick is the cheapest model that is proven to be close enough to the best.`),
    ...fact('Wrong labels', costs.label_noise),
    ...(pool && session.seesStanding ? fact('Judge', 'judge' in options ? `the column or field “${String(options.judge)}”; annotators do not see it` : 'none') : []),
    ...fact('Slices', 'slice' in options && options.slice !== null ? `by the column or field “${String(options.slice)}”` : ''),
    ...fact('Missing predictions', MISSING[campaign.missing]),
    ...(pool ? [] : fact('Expected items', campaign.expected_rounds === null ? 'not said' : number(campaign.expected_rounds))),
    ['People per item', peopleWords(campaign)],
    ['Items', number(campaign.rounds)],
    ['Labels', `${number(campaign.labels_used)} bought, ${number(campaign.pending)} waiting, ${number(campaign.skipped)} skipped, ${
      number(campaign.references)} for reference`],
  ];
  return html`<section class="card" aria-labelledby="about-title">
    <h2 id="about-title">About this campaign</h2>
    <dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
  </section>`;
}

/** @param {Part} props */
function Name({ campaign, change }) {
  const [typed, setTyped] = useState(campaign.name);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    change({ name: typed.trim() });
  };
  return html`<form class="card form" onSubmit=${submit}>
    <h2>Rename</h2>
    <${Input} label="Name" value=${typed} set=${setTyped} required maxlength="100"
      hint="Programs that use the old name have to be told the new one." />
    <p class="actions"><button disabled=${typed.trim() === campaign.name || !typed.trim()}>Rename</button></p>
  </form>`;
}

/** Deleting: offered after a download, and only once the name was typed. @param {{campaign: Api.Described}} props */
function Remove({ campaign: { name, rounds, labels_used: labels } }) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const [error, setError] = useState(/** @type {Error|null} */ (null));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    api.remove(name).then(() => go(home), setError);
  };
  return html`<section class="card form danger-zone" aria-labelledby="delete-title">
    <h2 id="delete-title">Delete</h2>
    <p>${count(rounds, 'item')} and ${count(labels, 'label')} would be deleted permanently. Take everything with you first:</p>
    <p class="actions"><a class="button" href=${downloadUrl(name, 'export', 'jsonl')} download>Download everything</a>
      ${!open && html`<button type="button" class="danger" onClick=${() => setOpen(true)}>Delete …</button>`}</p>
    ${open && html`<form onSubmit=${submit}>
      <${Input} label="Type the name of the campaign to delete it" value=${typed} set=${setTyped} autocomplete="off" />
      <p class="form-error" role="alert">${error?.message}</p>
      <p class="actions"><button class="danger" disabled=${typed !== name}>Delete permanently</button>
        <button type="button" onClick=${() => setOpen(false)}>Keep it</button></p>
    </form>`}
  </section>`;
}
