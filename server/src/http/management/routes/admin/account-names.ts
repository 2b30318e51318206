/** Names of accounts in lists for operators. */
import type { AccountId } from '../../../../core/ids.ts'
import type { Storage } from '../../../../storage/storage.ts'

/** By name, else by e-mail or phone; accounts without any are omitted. */
export async function readAccountNames(
  { accounts }: Pick<Storage, 'accounts'>,
  rows: readonly { readonly accountId: AccountId | undefined }[],
): Promise<ReadonlyMap<AccountId, string>> {
  const ids = [...new Set(rows.flatMap(({ accountId: id }) => (id === undefined ? [] : [id])))]
  const names = new Map(await accounts.readNames(ids))
  const nameless = await Promise.all(ids.filter((id) => !names.has(id)).map((id) => accounts.find(id)))
  for (const account of nameless) {
    const contact = account?.email ?? account?.phone
    if (account !== undefined && contact !== undefined) names.set(account.id, contact)
  }
  return names
}
