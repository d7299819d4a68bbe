// Wrong clocks, and parts of another event.
import { fault, lower, withHeader, withBody } from './kit.mjs';
import { NOW, units } from '../signers/recipe.mjs';

const clock = (name, run) => fault('clock', name, async (row, lab) => (row.time ? run(row, lab, row.time) : null));
const aged = (name, by, expect, applies) =>
  clock(name, async (row, lab, time) => {
    if (time.tolerance === undefined || !applies(time)) return null;
    return { request: await lab.signed(row, { now: NOW + by(time.tolerance) }), expect };
  });
const strict = ({ tolerance }) => tolerance !== undefined;
const UNIX = { s: 'ms', ms: 's', iso: 's', offset: 's', nanoseconds: 's' };

const edited = (name, header, change) =>
  fault('altered', name, async (row, lab) => {
    const own = header(row);
    return own
      ? { request: withHeader(await lab.signed(row), own, (key, value) => [key, change(value)]), expect: ['no_match'] }
      : null;
  });

export default [
  aged(
    'ten minutes late',
    (tolerance) => -(tolerance + 600),
    ['timestamp_old'],
    () => true,
  ),
  aged(
    'a day late',
    (tolerance) => -(tolerance + 86_400),
    ['timestamp_old'],
    () => true,
  ),
  aged(
    'clock ahead',
    (tolerance) => tolerance + 600,
    ['timestamp_future'],
    ({ future }) => future,
  ),
  clock('another unit', async (row, lab, time) => {
    if (!strict(time) || time.claim) return null;
    const expect =
      time.unit === 's' && !time.future ? ['timestamp_unit', 'timestamp_future', 'valid'] : ['timestamp_unit'];
    return { request: await lab.signed(row, { stamp: units[UNIX[time.unit]](NOW) }), expect };
  }),
  edited(
    'timestamp edited',
    (row) => row.time?.header,
    (value) => (/^\d+$/.test(value) ? `${Number(value) - 1}` : value.replace('15:06:40', '15:06:39')),
  ),
  edited(
    'id edited',
    (row) => row.idHeader,
    (value) => `${value}x`,
  ),
  fault('altered', 'signature of another event', async (row, lab) => {
    if (!row.header || row.covers === 'nothing' || row.tokenOnly) return null;
    const [own, other] = [await lab.signed(row), await lab.signed(row, { id: 'evt_0002', name: 'Somebody else' })];
    const request = withBody({ ...other, url: other.url }, own.body);
    return lower(row.row) === 'linear' ? null : { request, nearby: [own, other], expect: ['other_event'] };
  }),
];
