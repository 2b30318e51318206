import type { Migration } from './dialect.ts'

/**
 * A call goes by the id of its request, which leads to the row already: only other ids are kept in an index of their own.
 */
export const requestIndex: Migration = {
  version: 31,
  name: 'index of request ids that are not the calls’ own',
  statements: () => [
    'drop index call_logs_by_request',
    'create index call_logs_by_request on call_logs (request_id) where request_id <> call_id',
  ],
}
