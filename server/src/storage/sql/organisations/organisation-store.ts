/** The organisations' port over SQL. */
import type { OrganisationStore } from '../../stores/organisations.ts'
import { closeIn } from './close-organisation.ts'
import { fundIn } from './fund-organisation.ts'
import { createInvitationStore } from './invitations.ts'
import { decodeOrganisation } from './lock-organisation.ts'
import { createMemberStore } from './members.ts'
import { createIn, listOrganisations } from './organisations.ts'
import type { OrganisationStoreOptions } from './options.ts'

export function createOrganisationStore(options: OrganisationStoreOptions): OrganisationStore {
  const { engine, reader, write, newId } = options
  return {
    ...createMemberStore(options),
    ...createInvitationStore(options),

    create: (organisation, owner) => write((transaction) => createIn(transaction, organisation, owner)),

    async find(id) {
      const row = await reader
        .selectFrom('organisations')
        .selectAll()
        .where('id', '=', id)
        .where('closed_at', 'is', null)
        .executeTakeFirst()
      return row === undefined ? undefined : decodeOrganisation(row)
    },

    list: (page) => listOrganisations(reader, page),

    rename: (id, name) =>
      write(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('organisations')
          .set({ name })
          .where('id', '=', id)
          .where('closed_at', 'is', null)
          .executeTakeFirst()
        const found = numUpdatedRows > 0n
        return { value: found, changes: found ? [{ kind: 'account', accountId: id }] : [] }
      }),

    close: (id, how) => write((transaction) => closeIn(engine, transaction, { id, ...how, newId })),

    fund: (funding) => write((transaction) => fundIn(engine, transaction, funding)),
  }
}
