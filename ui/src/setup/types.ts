/** The API's types that set-up uses, under shorter names. */

import type { components } from '../api/schema.gen';

type Schemas = components['schemas'];

export type SourceView = Schemas['SourceView'];
export type SourceChange = Partial<Schemas['SourceChange']>;
export type Answer = Schemas['Answer'];
export type GenericScheme = Partial<Schemas['GenericScheme']>;
export type TargetView = Schemas['TargetView'];
export type TargetChange = Partial<Schemas['TargetChange']>;
export type SecretEntry = Schemas['SecretEntry'];
export type Check = Schemas['Check'];
export type Sent = Schemas['Sent'];
export type Provider = Schemas['ProviderView'];
export type TestKey = Schemas['TestKey'];
