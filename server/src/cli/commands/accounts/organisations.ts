import { createMonthOf } from '../../../core/calendar.ts'
import { creditsText } from '../../../management/money/amounts.ts'
import { type MemberView, viewMember } from '../../../management/organisations/member-view.ts'
import { eachMember } from '../../../management/organisations/organisations.ts'
import { accountId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { Organisation } from '../../../storage/stores/organisations.ts'
import { type Console, jsonText, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { withStorage } from '../../with-storage.ts'
import type { OutputFlags } from './accounts.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

interface OrganisationRow {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly members: number
  readonly credits: string
  readonly held_credits: string
  readonly owed: string
  readonly created_at: string
}

export async function organisationsList(io: Console, flags: OutputFlags): Promise<void> {
  const rows = await withStorage(io, 'refuse', async (storage) => {
    const found: OrganisationRow[] = []
    for await (const organisation of eachOrganisation(storage)) {
      const account = await storage.accounts.find(organisation.id)
      if (account !== undefined) found.push(await rowOf(storage, organisation, account))
    }
    return found
  })
  if (flags.json === true) {
    io.out(jsonText(rows.map((row) => ({ ...row }))))
    return
  }
  io.out(
    tableText(
      ['ID', 'NAME', 'STATUS', 'MEMBERS', 'CREDITS', 'HELD', 'OWED', 'CREATED'],
      rows.map((row) => [
        row.id,
        row.name,
        row.status,
        row.members,
        row.credits,
        row.held_credits,
        row.owed,
        row.created_at.slice(0, 10),
      ]),
    ),
  )
}

export async function organisationsMembers(io: Console, id: string, flags: OutputFlags): Promise<void> {
  const members = await withStorage(io, 'refuse', async (storage) => {
    const organisation = await storage.organisations.find(accountId(id.trim()))
    if (organisation === undefined) {
      throw new CommandFailure(
        'missing',
        `there is no organisation ${id}: sluice organisations list shows them all`,
      )
    }
    const { currency, creditsPerUnit, timezone } = (await storage.catalogue.read()).settings
    const options = { currency, creditsPerUnit, monthStart: createMonthOf()(io.now(), timezone).from }
    const views: MemberView[] = []
    for await (const member of eachMember(storage, organisation.id)) views.push(viewMember(member, options))
    return views
  })
  if (flags.json === true) {
    io.out(jsonText(members.map((member) => ({ ...member }))))
    return
  }
  io.out(
    tableText(
      ['ID', 'ACCOUNT', 'ROLE', 'STATUS', 'CAP', 'SPENT', 'HELD', 'CURRENCY', 'JOINED'],
      members.map((member) => [
        member.id,
        member.email ?? member.phone ?? member.account_id,
        member.role,
        member.account_status === 'suspended' ? 'account suspended' : member.status,
        member.monthly_cap_yuan === '0' ? undefined : member.monthly_cap_yuan,
        member.month_spent_yuan,
        member.month_held_yuan,
        member.currency,
        member.joined_at.slice(0, 10),
      ]),
    ),
  )
}

const PAGE = 200

async function* eachOrganisation(storage: Pick<Storage, 'organisations'>): AsyncGenerator<Organisation> {
  let after: string | undefined
  for (;;) {
    const page = await storage.organisations.list({ limit: PAGE, after })
    yield* page
    after = page.at(-1)?.id
    if (after === undefined || page.length < PAGE) return
  }
}

async function rowOf(
  storage: Pick<Storage, 'organisations'>,
  { id, name, createdAt }: Organisation,
  account: Account,
): Promise<OrganisationRow> {
  let members = 0
  for await (const _member of eachMember(storage, id)) members += 1
  return {
    id,
    name,
    status: account.status,
    members,
    credits: creditsText(microCredits(account.credits - account.held)),
    held_credits: creditsText(account.held),
    owed: creditsText(account.owed),
    created_at: new Date(createdAt).toISOString(),
  }
}
