import CircleCheck from '@lucide/svelte/icons/circle-check';
import CirclePause from '@lucide/svelte/icons/circle-pause';
import CircleX from '@lucide/svelte/icons/circle-x';
import Clock from '@lucide/svelte/icons/clock';
import LoaderCircle from '@lucide/svelte/icons/loader-circle';
import TriangleAlert from '@lucide/svelte/icons/triangle-alert';

import type { Job } from '../api/shapes';

/** The icon and tone of a job's state. */
export function jobMark({ state, failed }: Job) {
  if (state === 'done' && failed > 0) return { icon: TriangleAlert, tone: 'warn' };
  const marks = {
    waiting: { icon: Clock, tone: '' },
    running: { icon: LoaderCircle, tone: '' },
    done: { icon: CircleCheck, tone: 'ok' },
    failed: { icon: CircleX, tone: 'bad' },
    cancelled: { icon: CirclePause, tone: 'warn' },
    stopped: { icon: CirclePause, tone: 'warn' },
  };
  return marks[state];
}
