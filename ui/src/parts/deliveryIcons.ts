import Check from '@lucide/svelte/icons/check';
import CirclePause from '@lucide/svelte/icons/circle-pause';
import CircleQuestion from '@lucide/svelte/icons/circle-question-mark';
import CircleSlash from '@lucide/svelte/icons/circle-slash';
import CircleX from '@lucide/svelte/icons/circle-x';
import Clock from '@lucide/svelte/icons/clock';
import MailX from '@lucide/svelte/icons/mail-x';
import Send from '@lucide/svelte/icons/send';
import Timer from '@lucide/svelte/icons/timer';

/** The icon for each look of a delivery. */
export const deliveryIcons = {
  done: Check,
  pending: Clock,
  sending: Send,
  retry: Timer,
  waiting: CirclePause,
  unclear: CircleQuestion,
  failed: CircleX,
  dead: MailX,
  skipped: CircleSlash,
} as const;

/** The name of one of these icons. */
export type DeliveryIcon = keyof typeof deliveryIcons;
