import { useQuery } from '@tanstack/react-query'
import { keysQuery } from '../api/keys.ts'
import { membersQuery } from '../api/members.ts'
import { useMayManage, useOrganisationId } from '../api/session.ts'
import { type Groups, useGroupsBy } from '../parts/usage/groups.ts'
import type { Group } from '../parts/usage/search.ts'

/** The dimensions to split usage by, and the names of their groups. */
export function useGroups(by: Group): Groups {
  const organisation = useOrganisationId()
  const mayManage = useMayManage()
  const { data: keys = [] } = useQuery({ ...keysQuery(organisation), enabled: by === 'key' })
  const { data: members = [] } = useQuery({
    ...membersQuery(organisation ?? ''),
    enabled: by === 'member' && organisation !== undefined && mayManage,
  })
  const names = new Map([
    ...keys.map(({ id, name }) => [id, name] as const),
    ...members.map(({ id, name, email }) => [id, name ?? email ?? id] as const),
  ])
  return useGroupsBy(by, names)
}
