// The providers' own SDKs behind one shape (see node/shape.mjs).
import { apps } from './node/apps.mjs';
import { messages } from './node/messages.mjs';
import { money } from './node/money.mjs';
import { refuse, version } from './node/shape.mjs';
import { standard } from './node/standard.mjs';

export const sdks = { ...apps, ...messages, ...money, ...standard };

/** Returns `name → sdk@version` for all of them. */
export const versions = () =>
  Object.fromEntries(Object.entries(sdks).map(([name, sdk]) => [name, `${sdk.package}@${version(sdk.package)}`]));

/** Signs with the SDK; a recipe counts only if the SDK's verifier accepts its result. */
export async function sign(name, order) {
  const sdk = sdks[name] ?? refuse(`no SDK for ${name}`);
  const made = await sdk.sign(order);
  const request = Array.isArray(made) ? { headers: made } : { ...made, body: made.body && Buffer.from(made.body) };
  if (sdk.signed_by) await sdk.verify({ ...order, ...request });
  return { ...request, signed_by: sdk.signed_by ?? versions()[name] };
}

/** Verifies with the SDK; throws its error. */
export async function verify(name, order) {
  const sdk = sdks[name] ?? refuse(`no SDK for ${name}`);
  await sdk.verify(order);
}
