/** Compares video tasks with the open calls: a running task has an open call, and ends with it. */
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { type Differences, DIFFERENCES_MAX } from './differences.ts'

export async function verifyVideos(snapshot: Kysely<Schema>, differences: Differences): Promise<void> {
  const { rows } = await sql<{ id: string; phase: string }>`
    select id, phase from video_tasks where phase <> 'ended'
      and not exists (select 1 from open_calls c where c.call_id = video_tasks.call_id
        and c.recovered_at is null)
    union all
    select v.id, v.phase from open_calls c join video_tasks v on v.call_id = c.call_id where v.phase = 'ended'
      and c.recovered_at is null
    order by id limit ${DIFFERENCES_MAX}`.execute(snapshot)
  for (const { id, phase } of rows) {
    const ended = phase === 'ended'
    differences.add({
      subject: `video:${id}`,
      what: `open call of a task that ${ended ? 'has ended' : 'runs'}`,
      expected: ended ? 'none' : 'one',
      found: ended ? 'one' : 'none',
    })
  }
}
