/** People as other services know them. */
import { accountId } from '../../../core/ids.ts'
import type { LinkedIdentity, LinkStore } from '../../stores/identity.ts'
import { indexableText } from '../free-text.ts'
import { numberOf, type StoredRow, textOf } from '../table.ts'
import type { IdentityStoreOptions } from './options.ts'

export function createLinkStore({ reader, write }: IdentityStoreOptions): LinkStore {
  return {
    async find(service, subject) {
      const row = await reader
        .selectFrom('linked_identities')
        .selectAll()
        .where('service', '=', service)
        .where('subject', '=', indexableText(subject))
        .executeTakeFirst()
      return row === undefined ? undefined : decodeLink({ ...row })
    },

    add: (link) =>
      write(async (transaction) => {
        await transaction
          .insertInto('linked_identities')
          .values({
            service: link.service,
            subject: indexableText(link.subject),
            account_id: link.accountId,
            label: indexableText(link.label),
            created_at: link.createdAt,
          })
          .execute()
        return { value: undefined, changes: [] }
      }),

    async list(account) {
      const rows = await reader
        .selectFrom('linked_identities')
        .selectAll()
        .where('account_id', '=', account)
        .orderBy('created_at')
        .orderBy('service')
        .execute()
      return rows.map((row) => decodeLink({ ...row }))
    },

    remove: (account, service) =>
      write(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('linked_identities')
          .where('account_id', '=', account)
          .where('service', '=', service)
          .executeTakeFirst()
        return { value: numDeletedRows > 0n, changes: [] }
      }),
  }
}

function decodeLink(row: StoredRow): LinkedIdentity {
  return {
    service: textOf(row, 'service'),
    subject: textOf(row, 'subject'),
    accountId: accountId(textOf(row, 'account_id')),
    label: textOf(row, 'label'),
    createdAt: numberOf(row, 'created_at'),
  }
}
