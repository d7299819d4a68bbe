// Short names for the API's types.
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
/** What was last found at a target: whether somebody answers there. */
export type TargetState = Schemas['TargetState'];
/** Why nobody could be reached. */
export type NoConnection = Schemas['NoConnection'];
export type Problem = Schemas['Problem'];

/** The delivery that an event's row shows: the event's worst one, as its last attempt left it. */
export type GlanceDelivery = Schemas['DeliveryGlance'];
/** The summary that a row shows beside the event's own fields. */
export type Glance = Schemas['Glance'];
/** An event. Lists and the live stream send it with `glance`. */
export type Event = Schemas['EventJson'];
/** Why an event was not forwarded automatically, if the reason is that a web page may have sent it. */
export type Withheld = NonNullable<Event['withheld']>;
/** What the sender of an event was answered. */
export type SenderAnswer = NonNullable<Event['answered']>;
export type Stats = Schemas['StatsJson'];

/** A saved view. */
export type View = 'needs_action' | 'invalid' | 'dead_letter' | 'waiting';

/** Why a tunnel was offline. */
export type Why = Schemas['GapWhy'];
/** A period in which a tunnel was not connected, and what became of the events sent in it. */
export type Gap = Schemas['GapView'];
/** A way from the internet to this app, and its state. */
export type Tunnel = Schemas['TunnelView'];
/** The invitation with which another device joins a tunnel. It is shown once. */
export type Invitation = Schemas['Invitation'];
/** A device that takes part in a tunnel. */
export type Device = Schemas['DeviceView'];

/** What takes long and was asked for. */
export type Job = Schemas['JobJson'];
/** Something of a job that failed. */
export type JobFailure = Schemas['JobFailureJson'];
