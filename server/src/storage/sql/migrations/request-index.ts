import type { Migration } from './dialect.ts'

/**
 * A call usually has its request's id as its own, so the primary key finds it: only other request ids are in an index.
 */
export const requestIndex: Migration = {
  version: 31,
  name: 'index of request ids that are not the calls’ own',
  statements: () => [
    'drop index call_logs_by_request',
    'create index call_logs_by_request on call_logs (request_id) where request_id <> call_id',
  ],
}
