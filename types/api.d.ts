// What the server takes and sends, from its OpenAPI description.
// Do not edit: run .venv/bin/python -m tools.page_types

declare namespace Api {
  interface AgreementDocument {
    items: number;
    agreed: number | null;
    kappa: number | null;
    pairs: Array<PairDocument>;
    classes: Array<ClassAgreementDocument>;
  }

  interface AlgorithmDocument {
    name: string;
    summary: string;
    when_to_use: string;
    promises: string;
    stops: boolean;
    options: Array<OptionDocument>;
  }

  interface Answered {
    id: number;
    key: string | null;
    label: number | string | LabelDocument | null;
    state: "waiting" | "labelled" | "skipped" | "reference" | "conflict" | "withdrawn";
  }

  interface Answers {
    answers: Array<Answered>;
  }

  interface AskRecord {
    event: number;
    at: string;
    kind: "ask";
    id: number;
    key: string | null;
    item: Record<string, unknown> | null;
    predictions: Array<number | string | null>;
    query: boolean;
    probability: number;
    prediction: number | string | null;
    recommended: number | string;
    pair?: Array<number | string> | null;
    pace?: Array<number> | null;
  }

  interface CertificateDocument {
    model: number | string;
    gap: number;
    confidence: number;
    kind: "stream" | "population" | "pool";
    rounds: number;
    items: number | null;
    sentence: string;
    loss: string;
    label_noise: number;
    certain: boolean;
  }

  interface ChartsDocument {
    event: number;
    weights: WeightLines;
    labels: LabelLines;
    recent: RecentRounds;
    disagreement: Disagreement;
  }

  interface ClassAgreementDocument {
    label: number | string | LabelDocument | null;
    opinions: number;
    kappa: number | null;
  }

  interface ClassPair {
    classes: Array<number | string>;
    rounds: number;
  }

  interface Classes {
    classes: Array<number | string>;
    open: boolean;
  }

  interface ColumnDocument {
    name: string;
    role: "model" | "shown" | "id" | "label" | "left out";
    doubt: string;
  }

  interface ConflictDocument {
    id: number;
    key: string | null;
    item: Record<string, unknown> | null;
    opinions: Array<OpinionDocument>;
  }

  interface ConflictList {
    conflicts: Array<ConflictDocument>;
    total: number;
  }

  interface Decided {
    id: number;
    key: string | null;
    query: boolean;
    probability: number;
    prediction: number | string | null;
    recommended: number | string;
    racing: Array<number | string>;
  }

  interface DecidedMany {
    decisions: Array<Decided>;
  }

  interface Described {
    models: Array<number | string> | null;
    classes: Array<number | string> | null;
    budget: number | null;
    budget_way: "paced" | "cap";
    expected_rounds: number | null;
    stop_when: StoppingRule | null;
    overlap: number;
    overlap_rule: "all" | "majority";
    ask_for: "class" | "grades" | "preference";
    same: "exact" | "normalised" | number;
    missing: "abstained" | "not-run";
    seed: string;
    algorithm: string;
    options: Record<string, unknown>;
    name: string;
    created: string;
    paused: boolean;
    archived: boolean;
    finished: boolean;
    guidelines: string;
    state: StateDocument;
    to_go: ToGoDocument | null;
    more: OutlookDocument | null;
    rounds: number;
    labels_used: number;
    labels_saved: number;
    pending: number;
    skipped: number;
    references: number;
    waiting_items: Record<string, number>;
    conflicts: number;
    costs: Record<string, string>;
    withdrawn: number;
    labels_known: number;
    pick: number | string | null;
    tied: Array<number | string> | null;
  }

  interface Disagreement {
    rounds: number;
    divided: number;
    pairs: Array<ClassPair>;
    items: Array<DividedItem>;
  }

  interface DividedItem {
    id: number;
    key: string | null;
    item: Record<string, unknown> | null;
    votes: Array<[number | string | null, number]>;
  }

  interface EventOutcome {
    annotation: string;
    item: number | null;
    result: "taken" | "removed" | "known" | "stale" | "conflict" | "ignored";
  }

  interface EventOutcomes {
    outcomes: Array<EventOutcome>;
  }

  interface FedRecord {
    event: number;
    at: string;
    kind: "fed";
    round: number;
    items: number;
    dropped: boolean;
    by: string | null;
  }

  interface FeedRecord {
    event: number;
    at: string;
    kind: "feed";
    place: number;
    file: string;
    mark: string;
    upto: number;
    key: string;
    item: Record<string, unknown> | null;
    predictions: Array<number | string | null>;
  }

  interface FieldsRecord {
    event: number;
    at: string;
    kind: "fields";
    id: number;
    key: string | null;
    item: Record<string, unknown> | null;
  }

  interface FileLook {
    items: number;
    models: Array<string>;
    answers: number;
    classes: Array<number | string>;
    fields: Array<string>;
    labelled: boolean;
    columns: Array<ColumnDocument>;
    rows: Array<Record<string, unknown>>;
    problem: string | null;
  }

  interface FileTaken {
    rounds: number;
    known: number;
    queries: number;
    waiting: number;
  }

  interface Health {
    status: "ok";
  }

  interface HistoryPage {
    records: Array<AskRecord | ItemRecord | FieldsRecord | QuestionRecord | LabelRecord | SkipRecord | OpinionRecord | WithdrawRecord | RetractRecord | NoteRecord | JoinRecord | LeaveRecord | ReviseRecord | FeedRecord | FedRecord>;
    next: number | null;
  }

  interface IntakeDocument {
    name: string;
    phase: "reading" | "storing" | "comparing";
    done: number;
    total: number;
    words: string;
  }

  interface Intakes {
    intakes: Array<IntakeDocument>;
  }

  interface ItemRecord {
    event: number;
    at: string;
    kind: "item";
    id: number;
    predictions: Array<number | string | null>;
    judge?: number | string | null;
    slice?: string | null;
  }

  interface ItemsDropped {
    dropped: number;
  }

  interface JoinRecord {
    event: number;
    at: string;
    kind: "join";
    round: number;
    model: number | string;
    heir_of: number | string;
  }

  interface JudgeDocument {
    items: number;
    labels: number;
    agreed: number;
    silent: number;
    share: number | null;
    low: number;
    high: number;
    kappa: number | null;
    kappa_low: number | null;
    kappa_high: number | null;
    confidence: number;
    sentence: string;
    classes: Array<JudgedClassDocument>;
  }

  interface JudgedClassDocument {
    label: number | string | null;
    labels: number;
    agreed: number;
    low: number;
    high: number;
  }

  interface LabelDocument {
    kind: "classes" | "grades" | "preference";
    grades: Array<[number | string, number]>;
    otherwise?: number | null;
  }

  interface LabelLines {
    rounds: Array<number>;
    queries: Array<number>;
    labels: Array<number>;
  }

  interface LabelRecord {
    event: number;
    at: string;
    kind: "label" | "reference";
    id: number;
    label: number | string | LabelDocument;
    by: string | null;
    replaces: boolean;
    of_opinions?: boolean;
  }

  interface LabelRow {
    id: number;
    key: string | null;
    state: "labelled" | "skipped" | "reference" | "waiting" | "conflict" | "withdrawn";
    label: number | string | LabelDocument | null;
    by: string | null;
    at: string;
    item: Record<string, unknown> | null;
    predictions: Array<[number | string, number | string | null]>;
    notes: Array<NoteDocument>;
    opinions: Array<OpinionDocument>;
  }

  interface LabelRows {
    labels: Array<LabelRow>;
    total: number;
    annotators: Array<string>;
  }

  interface LabelStudioEvent {
    action: string;
    annotation?: Record<string, unknown> | Array<Record<string, unknown>> | null;
    annotations?: Array<Record<string, unknown>> | null;
    task?: Record<string, unknown> | Array<Record<string, unknown>> | null;
  }

  interface Leased {
    queries: Array<Waiting>;
    pending: number;
    deciding: boolean;
    own: number | null;
    ask_for: "class" | "grades" | "preference";
  }

  interface LeaveRecord {
    event: number;
    at: string;
    kind: "leave";
    round: number;
    model: number | string;
  }

  interface MadeToken {
    name: string;
    role: "owner" | "annotator" | "reader";
    token: string;
  }

  interface Members {
    models: Array<number | string>;
  }

  interface NewCampaign {
    models: Array<number | string> | number;
    classes?: Array<number | string> | null;
    budget?: number | null;
    budget_way?: "paced" | "cap";
    expected_rounds?: number | null;
    stop_when?: StoppingRule | null;
    overlap?: number;
    overlap_rule?: "all" | "majority";
    ask_for?: "class" | "grades" | "preference";
    same?: "exact" | "normalised" | number;
    missing?: "abstained" | "not-run";
    seed?: number;
    algorithm?: "model-picker" | "label-efficient" | "vote-entropy" | "structural-committee" | "importance-weighted" | "efficient-active" | "race";
    options?: Record<string, unknown> | null;
    name: string;
    guidelines?: string;
    loss?: string | Record<string, unknown> | null;
    price?: Record<string, number> | null;
    label_noise?: number;
  }

  interface NewLabel {
    id: number | string;
    label: number | string | LabelDocument;
    replace?: boolean;
    annotator?: string | null;
  }

  interface NewLabels {
    labels: Array<[number | string, number | string | LabelDocument | null]>;
    replace?: boolean;
    annotator?: string | null;
  }

  interface NewLease {
    most?: number;
    seconds?: number;
    annotator?: string | null;
  }

  interface NewModel {
    model: number | string;
  }

  interface NewNote {
    id: number | string;
    text?: string;
    flagged?: boolean;
    annotator?: string | null;
  }

  interface NewRetraction {
    id: number | string;
    lease?: number | null;
    annotator?: string | null;
  }

  interface NewRound {
    predictions: Record<string, number | string | null> | Array<number | string | null>;
    item?: Record<string, unknown> | null;
    key?: string | null;
  }

  interface NewRounds {
    predictions: Array<Record<string, number | string | null> | Array<number | string | null>>;
    items?: Array<Record<string, unknown> | null> | null;
    keys?: Array<string | null> | null;
  }

  interface NewSession {
    token: string;
  }

  interface NewSettlement {
    id: number | string;
    label: number | string | LabelDocument | null;
    annotator?: string | null;
  }

  interface NewSkip {
    id: number | string;
    replace?: boolean;
    annotator?: string | null;
  }

  interface NewTerms {
    budget?: number | null;
    stop_when?: StoppingRule | null;
    paused?: boolean;
    archived?: boolean;
    finished?: boolean;
    guidelines?: string;
    name?: string | null;
    annotator?: string | null;
  }

  interface NewToken {
    name: string;
    role: "owner" | "annotator" | "reader";
    predictions?: boolean;
  }

  interface NoteDocument {
    text: string;
    flagged: boolean;
    id: number;
    by: string | null;
    at: string;
  }

  interface NoteList {
    notes: Array<NoteDocument>;
  }

  interface NoteRecord {
    event: number;
    at: string;
    kind: "note";
    id: number;
    text: string;
    flagged: boolean;
    by: string | null;
  }

  interface Noted {
    text: string;
    flagged: boolean;
    id: number;
  }

  interface OpinionDocument {
    by: string | null;
    label: number | string | LabelDocument | null;
    at: string;
  }

  interface OpinionRecord {
    event: number;
    at: string;
    kind: "opinion";
    id: number;
    label: number | string | LabelDocument | null;
    by: string | null;
    needed: number;
    replaces: boolean;
  }

  interface OptionDocument {
    name: string;
    title: string;
    help: string;
    type: "integer" | "number" | "string" | "array" | "object";
    required: boolean;
    default: unknown;
    low: number | null;
    high: number | null;
    above: boolean;
    below: boolean;
    choices: Array<string>;
    parts: Array<OptionDocument>;
  }

  interface OutlookAnswer {
    outlook: OutlookDocument | null;
  }

  interface OutlookDocument {
    labels: number;
    chance: number;
    confidence: number;
    sentence: string;
  }

  interface OwnNote {
    text: string;
    flagged: boolean;
  }

  interface PairDocument {
    annotators: Array<string>;
    items: number;
    agreed: number;
    kappa: number | null;
  }

  interface Problem {
    type: string;
    title: string;
    status: number;
    detail: string;
    errors?: Array<Wrong> | null;
    columns?: Array<ColumnDocument> | null;
  }

  interface QuestionRecord {
    event: number;
    at: string;
    kind: "question";
    id: number;
    number: number;
    leader: number | string;
    draw: unknown;
    needed?: number;
    pair?: Array<number | string> | null;
    in_slice?: SliceQuestionDocument | null;
  }

  interface RecentRounds {
    rounds: Array<number>;
    probability: Array<number>;
    queried: Array<boolean>;
  }

  interface RetractRecord {
    event: number;
    at: string;
    kind: "retract";
    id: number;
    by: string | null;
    reference: boolean;
  }

  interface Retracted {
    id: number;
    labels_used: number;
    pending: number;
  }

  interface ReviseRecord {
    event: number;
    at: string;
    kind: "revise";
    round: number;
    changes: Record<string, unknown>;
    by: string | null;
  }

  interface SessionDocument {
    authenticated: boolean;
    role: "owner" | "annotator" | "reader" | null;
    name: string | null;
    sees_predictions: boolean;
    tokens_needed: boolean;
    media_hosts: Array<string>;
    demo: boolean;
    version: string;
  }

  interface SettingsDocument {
    settings: Array<OptionDocument>;
    algorithms: Array<AlgorithmDocument>;
    longest_name: number;
  }

  interface SkipRecord {
    event: number;
    at: string;
    kind: "skip";
    id: number;
    by: string | null;
    replaces: boolean;
    of_opinions?: boolean;
  }

  interface SliceDocument {
    value: string;
    items: number;
    contested: number;
    labels: number;
    model: number | string;
    certified: boolean;
    gap: number;
    state: "certified" | "not yet" | "undecided";
    reason: string;
    same: boolean | null;
    behind: number;
    proved: string;
    verdict: string;
  }

  interface SliceQuestionDocument {
    leader: number | string | null;
    draw: unknown;
  }

  interface SliceTableDocument {
    column: string;
    same_everywhere: boolean | null;
    sentence: string;
    tolerance: number;
    allowed: number;
    confidence: number;
    label_noise: number;
    slices: Array<SliceDocument>;
  }

  interface StandingDocument {
    event: number;
    pick: number | string | null;
    tied: Array<number | string>;
    rounds: number;
    covered: number;
    labels_used: number;
    labels_saved: number;
    pending: number;
    skipped: number;
    references: number;
    conflicts: number;
    budget: number | null;
    weighted: boolean;
    certificate: CertificateDocument;
    certified: boolean;
    reached: boolean | null;
    state: StateDocument;
    to_go: ToGoDocument | null;
    more: OutlookDocument | null;
    remark: string;
    saved_per_item: number | null;
    judge: JudgeDocument | null;
    slices: SliceTableDocument | null;
    racing: Array<number | string>;
    calls: number | null;
    standing: Array<StandingEntry>;
  }

  interface StandingEntry {
    model: number | string;
    estimate: number;
    gap: number | null;
    low: number | null;
    high: number | null;
    labels: number;
    since: number;
    covered: number;
    weight: number | null;
  }

  interface StateDocument {
    name: "running" | "waiting-for-labels" | "certified" | "won" | "conflicts" | "budget-spent" | "all-items-asked" | "paused" | "finished" | "archived";
    title: string;
    reason: string;
    next: string;
    takes_items: boolean;
  }

  interface StoppingRule {
    gap?: number;
    confidence?: number;
    kind?: "stream" | "population";
  }

  interface Summaries {
    campaigns: Array<Summary>;
  }

  interface Summary {
    name: string;
    created: string;
    algorithm: string;
    models: number | null;
    budget: number | null;
    state: StateDocument | null;
    damage: string | null;
    rounds: number;
    labels_used: number;
    pending: number;
    skipped: number;
    pick: number | string | null;
    tied: number | null;
  }

  interface ToGoDocument {
    expected: number;
    low: number;
    high: number;
    words: string;
  }

  interface TokenDocument {
    name: string;
    role: "owner" | "annotator" | "reader";
    predictions: boolean;
    created: string;
  }

  interface TokenList {
    tokens: Array<TokenDocument>;
  }

  interface Told {
    id: number;
    label: number | string | LabelDocument | null;
    labels_used: number;
    pending: number;
  }

  interface ToldMany {
    told: number;
    labels_used: number;
    pending: number;
  }

  interface Waiting {
    id: number;
    item: Record<string, unknown> | null;
    key: string | null;
    classes: Array<number | string> | null;
    candidates: Array<number | string> | null;
    note: OwnNote | null;
    leased_until: number | null;
    leased_by: string | null;
  }

  interface WeightLines {
    kind: "weights" | "estimates";
    models: Array<number | string>;
    labels: Array<number>;
    rounds: Array<number>;
    values: Array<Array<number | null>>;
  }

  interface WithdrawRecord {
    event: number;
    at: string;
    kind: "withdraw";
    id: number;
    whose: string | null;
    by: string | null;
  }

  interface Wrong {
    where: string;
    what: string;
  }
}
