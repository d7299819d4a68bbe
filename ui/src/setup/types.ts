/** The API's words that set-up uses, by shorter names. */

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

/** Something that verification needs and no request says. */
export interface ProviderParam {
  name: string;
  label: string;
  hint?: string | null;
  required?: boolean;
}

export type Provider = Schemas['ProviderView'] & {
  params?: ProviderParam[];
  /** `confirmed` by the provider's own code, or `corroborated` only. */
  confidence?: string | null;
  /** Its key is private: only a key pair of one's own can sign here. */
  asymmetric?: boolean;
};
