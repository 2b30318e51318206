import type { Member } from '../api/members.ts'

/** What people call a member. */
export function memberName({
  name,
  email,
  phone,
  id,
}: Pick<Member, 'name' | 'email' | 'phone' | 'id'>): string {
  return name ?? email ?? phone ?? id
}
