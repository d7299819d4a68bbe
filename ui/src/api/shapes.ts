// The shapes of the API under short names.
import type { components } from './schema.gen';

type Schemas = components['schemas'];

export type Verdict = Schemas['Verdict'];
export type EventStatus = Schemas['EventStatus'];
export type DeliveryState = Schemas['DeliveryState'];
export type Delivery = Schemas['DeliveryJson'];
export type Attempt = Schemas['AttemptJson'];
export type Cause = Schemas['Cause'];
export type Source = Schemas['SourceView'];
export type Target = Schemas['TargetView'];
export type Problem = Schemas['Problem'];

/** The delivery that a row shows: the worst one of its event, by its last attempt. */
export type GlanceDelivery = Schemas['DeliveryGlance'];
/** What a row tells at a glance beside the event. */
export type Glance = Schemas['Glance'];
/** An event; lists and the live stream carry it with `glance`. */
export type Event = Schemas['EventJson'];
/** Why an event was not forwarded by itself, where a web page is the reason. */
export type Withheld = NonNullable<Event['withheld']>;
export type Stats = Schemas['StatsJson'];

/** A saved view. */
export type View = 'needs_action' | 'invalid' | 'dead_letter' | 'waiting';

/** Why a tunnel was offline. */
export type Why = Schemas['GapWhy'];
/** A stretch of time without a connection of one tunnel, and what came of it. */
export type Gap = Schemas['GapView'];
/** A way from the internet to this app, and how it is. */
export type Tunnel = Schemas['TunnelView'];
/** What another device joins by; shown once. */
export type Invitation = Schemas['Invitation'];
/** A device that takes part in a tunnel. */
export type Device = Schemas['DeviceView'];
