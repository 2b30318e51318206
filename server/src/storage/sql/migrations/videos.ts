import { DIALECTS, type Dialect, type EngineName, type Migration } from './dialect.ts'

export const videos: Migration = { version: 2, name: 'video tasks', statements }

/**
 * Open tasks are few and searched for all the time, ended ones are many and wait to expire: each kind has its own
 * index. Text of clients and vendors is stored as JSON, because the engines do not accept every character in plain
 * text.
 */
function statements(engine: EngineName): readonly string[] {
  const { integer, hot }: Dialect = DIALECTS[engine]
  return [
    `create table video_tasks (
       id text not null primary key, key_id text not null, account_id text not null, call_id text not null unique,
       status text not null, phase text not null, model_id text not null, chain_id ${integer}, vendor_code text,
       byok ${integer} not null, state text not null, next text, due_at ${integer} not null,
       polls ${integer} not null, failures_in_row ${integer} not null, progress text not null,
       created_at ${integer} not null, completed_at ${integer}, expires_at ${integer} not null,
       seconds text not null, seconds_billed text not null, seconds_produced text, size text not null,
       prompt text not null, url text, blob text, blob_bytes ${integer}, blob_sha256 text, error text,
       last_answer text, detail text not null, lease_instance text, lease_until ${integer} not null,
       idempotency_sha256 text, body_sha256 text) ${hot}`,
    `create unique index video_tasks_by_idempotency on video_tasks (key_id, idempotency_sha256)
       where idempotency_sha256 is not null`,
    `create index video_tasks_by_key on video_tasks (key_id, created_at, id)`,
    `create index video_tasks_by_time on video_tasks (created_at, id)`,
    `create index video_tasks_due on video_tasks (due_at) where phase <> 'ended'`,
    `create index video_tasks_to_expire on video_tasks (expires_at) where phase = 'ended'`,
  ]
}
