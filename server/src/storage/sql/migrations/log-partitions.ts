import { DIALECTS, type EngineName, type Migration } from './dialect.ts'
import { CALL_LOG_INDEXES } from './first-schema.ts'

/**
 * On PostgreSQL the log is in one table per month, so that expired rows are dropped at once and leave no dead space;
 * `postgres/log-partitions.ts` creates and drops them. SQLite reuses the pages of deleted rows.
 */
export const logPartitions: Migration = { version: 9, name: 'one log table a month', statements }

function statements(engine: EngineName): readonly string[] {
  if (engine === 'sqlite') return []
  const { integer } = DIALECTS[engine]
  return [
    'alter table call_logs rename to call_logs_before',
    `create table call_logs (
       call_id text not null, request_id text not null, created_at ${integer} not null,
       ended_at ${integer} not null, account_id text, key_id text, model text, http_status ${integer} not null,
       app_id text, custom_id text, end_user text, amount ${integer} not null, deducted ${integer} not null,
       detail text not null, constraint call_logs_by_call primary key (call_id, created_at))
       partition by range (created_at)`,
    // Rows of a month that has no table yet; they are moved to it once it is created.
    'create table call_logs_rest partition of call_logs default',
    'insert into call_logs select * from call_logs_before',
    'drop table call_logs_before',
    ...CALL_LOG_INDEXES,
  ]
}
