import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { keysQuery } from '../api/keys.ts'
import { membersQuery } from '../api/members.ts'
import { useMayManage, useOrganisationId } from '../api/session.ts'
import type { Row } from './measures.ts'
import type { Group } from './search.ts'

export interface Groups {
  /** The id of the group that a row belongs to; empty: of none. */
  readonly idOf: (row: Row) => string
  readonly nameOf: (id: string) => string
}

/** Rows by model, key, application or member, and what those are called. */
export function useGroups(by: Group): Groups {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const mayManage = useMayManage()
  const { data: keys = [] } = useQuery({ ...keysQuery(organisation), enabled: by === 'key' })
  const { data: members = [] } = useQuery({
    ...membersQuery(organisation ?? ''),
    enabled: by === 'member' && organisation !== undefined && mayManage,
  })
  const idsOf: Readonly<Record<Group, (row: Row) => string | null>> = {
    model: ({ model }) => model,
    key: ({ key_id: id }) => id,
    app: ({ app_id: id }) => id,
    member: ({ member }) => member,
  }
  const names = new Map([
    ...keys.map(({ id, name }) => [id, name] as const),
    ...members.map(({ id, name, email }) => [id, name ?? email ?? id] as const),
  ])
  return {
    idOf: (row) => idsOf[by](row) ?? '',
    nameOf: (id) => (id === '' ? t(`usage.none.${by}`) : (names.get(id) ?? id)),
  }
}
