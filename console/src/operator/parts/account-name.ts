import type { AccountRow } from '../../api/operator/accounts.ts'

type Named = Pick<AccountRow, 'id' | 'name' | 'email' | 'phone'>

/** The name of an account, and its second identifier. */
export function namesOf({ id, name, email, phone }: Named): { readonly name: string; readonly also: string } {
  const names = [name, email, phone].filter((each) => each !== null)
  const [first = id, ...others] = names
  return { name: first, also: others.length === 0 ? id : others.join(' · ') }
}
