import type { JsonObject, JsonValue } from '../../../core/json.ts'
import { accountId } from '../../../core/ids.ts'
import { createMonthOf } from '../../../core/calendar.ts'
import { type AccountView, eachAccount, viewAccount } from '../../../management/accounts/accounts.ts'
import { listKeys } from '../../../management/keys/keys.ts'
import type { Storage } from '../../../storage/storage.ts'
import { type Console, jsonText, tableText } from '../../console.ts'
import { requireAccount } from '../../find-rows.ts'
import { withStorage } from '../../with-storage.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

export interface OutputFlags {
  readonly json?: boolean
}

export async function accountsList(io: Console, flags: OutputFlags): Promise<void> {
  const { views, names } = await withStorage(io, 'refuse', async (storage) => {
    const view = await viewer(storage, io.now())
    const rows: AccountView[] = []
    for await (const account of eachAccount(storage)) rows.push(view(account))
    return { views: rows, names: await organisationNames(storage, rows) }
  })
  if (flags.json === true) {
    io.out(jsonText(views.map((view) => ({ ...view }))))
    return
  }
  const rows = views.map((view) => [
    view.id,
    view.email ?? view.phone ?? names.get(view.id),
    view.kind,
    view.role,
    view.status,
    view.credits,
    view.held_credits,
    view.owed,
    `${view.balance} ${view.currency}`,
    view.plan ?? undefined,
  ])
  io.out(
    tableText(
      ['ID', 'ACCOUNT', 'KIND', 'ROLE', 'STATUS', 'CREDITS', 'HELD', 'OWED', 'BALANCE', 'PLAN'],
      rows,
    ),
  )
}

export async function accountsShow(io: Console, reference: string, flags: OutputFlags): Promise<void> {
  const { view, keys } = await withStorage(io, 'refuse', async (storage) => {
    const account = await requireAccount(io, storage, reference)
    const found = (await viewer(storage, io.now()))(account)
    return { view: found, keys: (await listKeys(storage, account.id)).length }
  })
  const shown: JsonObject = { ...view, keys }
  if (flags.json === true) io.out(jsonText(shown))
  else
    io.out(
      tableText(
        ['FIELD', 'VALUE'],
        Object.entries(shown).map(([name, value]) => [name, textOf(value)]),
      ),
    )
}

/** Organisations are shown by name, because they have no address. A closed one has no name any more. */
async function organisationNames(
  storage: Storage,
  views: readonly AccountView[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const { id, kind } of views) {
    if (kind !== 'organisation') continue
    const organisation = await storage.organisations.find(accountId(id))
    names.set(id, organisation?.name ?? 'closed')
  }
  return names
}

async function viewer(storage: Storage, at: number): Promise<(account: Account) => AccountView> {
  const { currency, creditsPerUnit, timezone } = (await storage.catalogue.read()).settings
  const monthStart = createMonthOf()(at, timezone).from
  return (account) => viewAccount(account, { currency, creditsPerUnit, at, monthStart })
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
