import type { Migration } from './dialect.ts'

/**
 * The table of video tasks keeps every kind of task that outlives its request: all are leased, polled and ended in the
 * same way.
 */
export const taskKind: Migration = {
  version: 19,
  name: 'kinds of tasks',
  statements: () => [`alter table video_tasks add column kind text not null default 'video'`],
}
