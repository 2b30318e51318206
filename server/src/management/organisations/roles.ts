/** What a role allows: an owner may do what an admin may, and an admin what a member may. */
import type { MemberRole } from '../../storage/stores/organisations.ts'

const RANK: Readonly<Record<MemberRole, number>> = { member: 0, admin: 1, owner: 2 }

export function hasRight(role: MemberRole, least: MemberRole): boolean {
  return RANK[role] >= RANK[least]
}

/** The roles that a person with this role may assign, revoke or remove: never higher ones. */
export function rolesBelow(role: MemberRole): readonly MemberRole[] {
  switch (role) {
    case 'owner':
      return ['owner', 'admin', 'member']
    case 'admin':
      return ['admin', 'member']
    case 'member':
      return []
  }
}
