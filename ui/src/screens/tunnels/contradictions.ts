// Reads what the page says as a person would, by its words alone, and finds what can't be true at once.
import type { Delivery, Target } from '../../api/shapes';
import { gapSentence } from '../../format/gap';
import { stateWord, tally, type Tone } from '../../format/tunnel';
import { targetWords } from '../../format/target';
import { deliveryWords } from '../inspector/detail/logic/delivery-words';
import { fewStationsOf, lastBack, stationsOf, type Station } from '../../state/stations';
import type { World } from '../../state/world';
import type { Drawn, Scene } from './drawn';
import { gapRows, gapsSince, gapSum, noGaps, shownGaps, type GapRow } from './gaps';
import { wayThrough } from './stops';
import { knownSince, week, weekStart, type Day } from './week';
import { stateSentence } from './words';

/** What the detail pane says of one tunnel, as its components put it together. */
function told({ tunnel, history }: Drawn, world: World) {
  const { now } = world;
  const gaps = shownGaps(history?.items ?? [], tunnel);
  const recent = gapsSince(gaps, weekStart(now));
  const since = knownSince(tunnel, history, now);
  const days = week(now, { since, added: Date.parse(tunnel.created_at), gaps });
  return {
    tunnel,
    history,
    sentence: stateSentence(tunnel, now),
    brief: stateSentence(tunnel, now, { brief: true }),
    way: wayThrough(tunnel, world),
    rows: history ? gapRows(recent, tunnel, now) : [],
    none: history && recent.length === 0 ? noGaps(tunnel, gaps.length > 0 || history.next !== null) : null,
    sum: history && recent.length > 0 ? gapSum(recent, tunnel) : null,
    days,
    titles: days.flatMap(({ marks }) =>
      marks.map(({ gap }) => ({ gap, text: gapSentence(gap, now, tunnel.kind) })),
    ),
    word: stateWord(tunnel),
    tally: tally([tunnel]),
    error: tunnel.enabled && tunnel.state !== 'off' ? (tunnel.error?.message ?? null) : null,
  };
}

type Told = ReturnType<typeof told>;

const isUp = ({ tunnel: { state } }: Pick<Told, 'tunnel'>) => state === 'connected' || state === 'limited';

/** Says what contradicts what on the page; nothing if all of it can be true. */
export function contradictions(scene: Scene): string[] {
  const { world, drawn } = scene;
  const strip = stationsOf(world);
  const all = drawn.map((one) => told(one, world));
  return [
    ...all.flatMap((one) => [
      ...reasons(one),
      ...pastAndPresent(one, world),
      ...claims(one),
      ...conditions(one, strip),
    ]),
    ...rates(all, strip, world),
    ...storing(all, strip),
    ...targets(all, strip, world),
    ...joined(world),
    ...back(all, world),
  ];
}

/** Reasons by the words that a person takes for them. */
const REASONS: readonly [string, RegExp][] = [
  ['network', /network|no route/i],
  ['connection refused', /connection (is |was )?refused|connections were refused/i],
  ['name', /\bname\b/i],
  ['no answer', /no answer|not answer|nobody answered|nothing answer/i],
  ['certificate', /certificate|trusted/i],
  ['asleep', /asleep|slept/i],
  ['closed', /app (was )?closed/i],
  ['off', /turned off|was off/i],
  ['denied', /relay refused|^refused by/i],
  ['fault', /fault|broke off|isn’t connected/i],
  ['program', /running/i],
];

/** Reasons that are about the beginning of a gap, beside which another may be told of the present. */
const BEGINNINGS = new Set(['asleep', 'closed', 'off']);

function reasonsIn(text: string): string[] {
  return REASONS.filter(([, words]) => words.test(text)).map(([name]) => name);
}

/** One outage has one reason, wherever it is told. */
function reasons(one: Told): string[] {
  if (isUp(one)) return [];
  const { sentence, brief, rows, error } = one;
  const found: string[] = [];
  const present = rows.find(({ gap }) => gap.until === null);
  if (one.history && !present)
    found.push('the tunnel has no connection, and the table has no gap that lasts');
  const [said, inTable] = [reasonsIn(sentence.strong), reasonsIn(present?.why ?? '')];
  if (sentence.strong !== brief.strong) found.push('the short sentence tells something else');
  if (one.tunnel.state === 'offline') {
    if (present && said.join() !== inTable.join())
      found.push(`sentence: ${said.join()}; table: ${inTable.join()}`);
    const shown = said.filter((reason) => !BEGINNINGS.has(reason));
    if (shown.length > 1) found.push(`the sentence gives two reasons: ${sentence.strong}`);
    if (error && reasonsIn(error).join() !== shown.join())
      found.push(`“${sentence.strong}” beside “${error}”`);
  }
  return found;
}

/** Chart, table and sentence tell of the same past, which begins when the tunnel was added. */
function pastAndPresent(one: Told, { now }: World): string[] {
  const { tunnel, history, rows, none, days, sentence } = one;
  const found: string[] = [];
  const known = knownSince(tunnel, history, now);
  const drawn = days.flatMap((day) => day.stretches.map((each) => ({ ...each, ...moments(day, each) })));
  const offline = drawn.filter(({ kind }) => kind === 'offline');
  const begins = Math.min(...drawn.map(({ begins }) => begins));
  if (begins < Math.max(Date.parse(tunnel.created_at), weekStart(now)) - 1)
    found.push('the chart begins before the tunnel was added');
  if (!history && drawn.length > 0) found.push('the chart tells of a past that was not read');
  if (none !== null && offline.length > 0) found.push(`“${none}” under a chart that shows offline`);
  for (const { gap, when } of rows) {
    const [from, until] = [
      Math.max(Date.parse(gap.from), known, weekStart(now)),
      gap.until === null ? now : Date.parse(gap.until),
    ];
    if (
      until - from > 2 &&
      !offline.some((each) => each.begins <= from + 1 && each.ends >= Math.min(until, endOfDay(from)) - 1)
    )
      found.push(`the table has ${when}, the chart doesn’t`);
  }
  for (const each of offline) {
    const covered = rows.some(
      ({ gap }) =>
        Date.parse(gap.from) <= each.begins + 1 &&
        (gap.until === null || Date.parse(gap.until) >= each.begins),
    );
    if (!covered) found.push('the chart shows offline, and the table has no such gap');
  }
  const last = drawn.filter(({ ends }) => ends >= now - 1).at(-1);
  if (
    history &&
    last &&
    last.kind !== (isUp(one) ? 'connected' : 'offline') &&
    Date.parse(tunnel.since) < now - 1
  )
    found.push(`“${sentence.strong}” beside a chart that ends ${last.kind}`);
  if (isUp(one) && rows.some(({ gap }) => gap.until === null)) found.push('connected, with a gap until now');
  if (tunnel.state === 'offline' && rows[0] && rows[0].gap.from !== tunnel.since)
    found.push('sentence and table begin at different times');
  return found;
}

function moments({ start }: Day, { from, to }: { from: number; to: number }) {
  const length = new Date(start).setHours(24, 0, 0, 0) - start;
  return { begins: start + from * length, ends: start + to * length };
}

function endOfDay(at: number): number {
  return new Date(at).setHours(24, 0, 0, 0);
}

/** Nothing is called done or lost while it isn't over. */
function claims(one: Told): string[] {
  const { tunnel, sentence, brief, rows, titles } = one;
  const found: string[] = [];
  const waiting = isUp(one) ? tunnel.waiting.letters : 0;
  for (const text of [sentence.rest, brief.rest])
    if (waiting > 0 && /\b\d+ lost/.test(text)) found.push(`“${text}” while ${waiting} wait`);
  const isOpen = ({ gap }: GapRow) => gap.open;
  for (const row of rows.filter(isOpen)) {
    if (/^\d/.test(row.lost) && !row.lost.endsWith('so far'))
      found.push(`lost ${row.lost} in a gap that isn’t over`);
    if (/^\d+$/.test(row.caught)) found.push(`caught up ${row.caught} in a gap that isn’t over`);
  }
  for (const { gap, text } of titles)
    if (gap.open && /lost/.test(text)) found.push(`“${text}” in the chart isn’t over`);
  if (!isUp(one) && /\d+ in the mailbox/.test(one.way.stops[1]!.note))
    found.push('a mailbox that can’t be seen is counted');
  return found;
}

/** The condition that a text tells of a tunnel. */
function conditionIn(text: string): string {
  if (/limit/i.test(text)) return 'limited';
  if (/problem/i.test(text)) return 'problem';
  if (/can’t connect/i.test(text)) return 'stuck';
  if (/^connecting|\bconnecting$/i.test(text)) return 'connecting';
  if (/offline|not connected/i.test(text)) return 'offline';
  if (/refused/i.test(text)) return 'refused';
  if (/\boff\b/i.test(text)) return 'off';
  return /connected|\d ms$/i.test(text) ? 'connected' : text;
}

/** One tunnel is in one condition, wherever it is told. */
function conditions({ tunnel, word, tally, sentence, way }: Told, strip: readonly Station[]): string[] {
  const inStrip = strip.find(({ id }) => id === `relay-${tunnel.id}`);
  const texts = [word, tally, sentence.strong, way.stops[1]!.state, ...(inStrip ? [inStrip.value] : [])];
  const told = new Set(texts.map(conditionIn));
  const tones = new Set([way.stops[1]!.tone, ...(inStrip ? [inStrip.tone] : [])]);
  return [
    ...(told.size > 1 ? [`one tunnel is ${texts.join(' | ')}`] : []),
    ...(tones.size > 1 ? ['one tunnel has two colours'] : []),
  ];
}

function numberIn(text: string): number {
  return Number(/[\d,]+/.exec(text)?.[0].replaceAll(',', '') ?? 0);
}

/** The strip's rate is that of all ways, so no tunnel brings more; and what came a moment ago is in both. */
function rates(all: readonly Told[], strip: readonly Station[], world: World): string[] {
  const found: string[] = [];
  const inStrip = strip.find(({ kind }) => kind === 'providers')!.value;
  const direct = world.came.filter(({ at, via }) => via !== 'tunnel' && at > world.now - 60_000).length;
  for (const { way } of all) {
    const { state, note } = way.stops[0]!;
    const [mine, everything] = [numberIn(state), numberIn(inStrip)];
    if (mine > everything) found.push(`${inStrip} beside ${state}`);
    if (everything - direct > mine) found.push(`${inStrip}, ${direct} of them direct, beside ${state}`);
    if (/^last one (just now|\d+ s ago)/.test(note) && mine === 0) found.push(`${state}, ${note}`);
    if (/^last one/.test(note) && /none/.test(inStrip)) found.push(`${inStrip} beside ${note}`);
    if (note === 'none yet' && mine > 0) found.push(`${state}, ${note}`);
  }
  return found;
}

/** Whether this app stores is one fact. */
function storing(all: readonly Told[], strip: readonly Station[]): string[] {
  const inStrip = strip.find(({ kind }) => kind === 'app')!;
  const found: string[] = [];
  for (const { way, tunnel } of all) {
    const stop = way.stops[2]!;
    const can = (text: string) => !/can’t|not /i.test(text);
    if (stop.tone !== inStrip.tone || can(stop.state) !== can(inStrip.value))
      found.push(`strip: ${inStrip.tone} ${inStrip.value}; station: ${stop.tone} ${stop.state}`);
    if (!tunnel.stores && inStrip.tone === 'ok') found.push('a green strip, though events can’t be stored');
  }
  return found;
}

const calm: readonly Tone[] = ['ok', 'none'];

/** What is known of a target is one fact; green is only what answers, and nothing waits for it. */
function targets(all: readonly Told[], strip: readonly Station[], world: World): string[] {
  const found: string[] = [];
  const shown = strip.filter(({ kind }) => kind === 'target');
  for (const station of shown) {
    const there = world.targets.filter(({ url }) => new URL(url).host === station.name);
    const held = there.filter(({ paused, state }) => paused || state.is === 'silent');
    const waiting = held.reduce((sum, { id }) => sum + (world.waiting.get(id) ?? 0), 0);
    if (/waiting/.test(station.value) && numberIn(station.value) !== waiting)
      found.push(`${station.value}, but ${waiting} wait`);
    if (waiting > 0 && calm.includes(station.tone))
      found.push(`${waiting} wait for a target that is ${station.tone}`);
    const answers = there.some(
      ({ state }) => state.is === 'answered' && world.now - Date.parse(state.at) < 60_000,
    );
    if (station.tone === 'ok' && !answers) found.push(`green before it answered: ${station.value}`);
    const [only, ...others] = there;
    if (only && others.length === 0) found.push(...oneTarget(only, station, world));
  }
  const green = shown.filter(({ tone }) => tone === 'ok').length;
  for (const { way } of all) {
    const { state, tone } = way.stops[3]!;
    if (
      / of \d+ up/.test(state) &&
      numberIn(state) !== green &&
      shown.every(({ value }) => !/waiting/.test(value))
    )
      found.push(`strip: ${green} green; station: ${state}`);
    if (tone === 'ok' && green < shown.length) found.push('a green station above targets that aren’t');
    if (tone !== way.legs[2]!.tone) found.push('station and line differ');
  }
  return found;
}

/** Settings, strip and the deliveries that wait tell the same of a target. */
function oneTarget(target: Target, station: Station, world: World): string[] {
  const found: string[] = [];
  const inSettings = targetWords(target, world.now);
  const waiting = world.waiting.get(target.id) ?? 0;
  const inDetail = deliveryWords(pendingAt(target), { target, waiting, verdict: 'valid' });
  const reason = (text: string | null | undefined) => reasonsIn(text ?? '').join();
  if (!/waiting/.test(station.value) && station.value !== inSettings.word)
    found.push(`strip: ${station.value}; settings: ${inSettings.word}`);
  if (reason(station.says) !== reason(inSettings.says)) found.push('strip and settings give two reasons');
  if (target.state.is === 'silent' && !target.paused && reason(inDetail.detail) !== reason(inSettings.says))
    found.push(`settings: ${inSettings.says}; delivery: ${inDetail.detail}`);
  if (
    / of /.test(inDetail.state) &&
    /waiting/.test(station.value) &&
    numberIn(inDetail.state.split(' of ')[1]!) !== numberIn(station.value)
  )
    found.push(`“${inDetail.state}” beside “${station.value}”`);
  return found;
}

/** A delivery that has waited for a target since there were two in its queue. */
function pendingAt(target: Target): Delivery {
  const held = target.paused || target.state.is === 'silent';
  return {
    id: 'e.1',
    target: target.url,
    target_id: target.id,
    status: 'pending',
    replay: false,
    queue: held ? { place: 1, of: 2 } : null,
    last_error: null,
    attempts: [],
    completed_at: null,
    next_attempt_at: null,
  };
}

/** Where several stops are one, what is said of some of them holds for each of these, and for no other. */
function joined(world: World): string[] {
  const found: string[] = [];
  const all = stationsOf(world);
  for (const one of fewStationsOf(world).filter(({ id }) => !all.some((each) => each.id === id))) {
    const there = all.filter(({ kind }) => kind === one.kind);
    const like = there.filter(({ tone }) => tone === one.tone);
    const [, many, value] = /^(all|\d+ of them) (.*)$/.exec(one.value.replace(/^none /, 'all not ')) ?? [];
    if (many === undefined) found.push(`${one.name} ${one.value}, but whose?`);
    if ((many === 'all' ? there.length : numberIn(many ?? '')) !== like.length)
      found.push(`${one.value}, but ${like.length} are`);
    const isUnlike = ['up', 'connected', 'checked lately', 'need attention'].includes(
      value?.replace(/^not /, '') ?? '',
    );
    if (!isUnlike && like.some((each) => (each.counted ?? each.value) !== value))
      found.push(`not all of them: ${one.value}`);
    const connected =
      world.tunnels?.filter((tunnel) => isUp({ tunnel })).map(({ id }) => `relay-${id}`) ?? [];
    if (/none connected|not connected/.test(one.value) && like.some(({ id }) => connected.includes(id)))
      found.push(`${one.value}, but one is connected`);
  }
  return found;
}

/** Nobody is said to be back who is offline. */
function back(all: readonly Told[], world: World): string[] {
  const newest = all.flatMap(({ tunnel: { gap } }) => (gap?.until ? [gap] : []));
  const line = lastBack(newest, world);
  const its = all.find(({ tunnel }) => tunnel.id === line?.tunnel_id);
  return its && !isUp(its) ? ['back, and offline'] : [];
}
