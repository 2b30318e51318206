import type { Member } from '../api/members.ts'

/** The display name of a member. */
export function memberName({
  name,
  email,
  phone,
  id,
}: Pick<Member, 'name' | 'email' | 'phone' | 'id'>): string {
  return name ?? email ?? phone ?? id
}
