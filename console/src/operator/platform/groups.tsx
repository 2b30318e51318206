import { useQuery } from '@tanstack/react-query'
import { type AnyGroup, anyGroupsQuery } from '../../api/operator/groups.ts'
import type { Column } from '../../parts/lists/data-table.tsx'
import { late } from '../../parts/page/late.ts'
import { FoundList } from '../parts/found-list.tsx'
import operator from '../parts/operator.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

const GroupForm = late(async () => (await import('./group-form.tsx')).GroupForm)

/** In the address in place of a name while a group is created; no name can begin like this. */
export const NEW_GROUP = '+new'

/** Groups that keys are bound to: a protocol, and the only models they may call. */
export function Groups() {
  const { t } = useTranslation()
  const groups = useQuery(anyGroupsQuery)
  const columns = useColumns()
  return (
    <FoundList
      query={groups}
      height={240}
      none={{ icon: 'key', title: t('platform.noGroups'), hint: t('platform.noGroupsHint') }}
      label={t('platform.tabs.groups')}
      columns={columns}
      rows={groups.data ?? []}
      idOf={({ name }) => name}
      sheet={({ id, row, close }) =>
        (id === NEW_GROUP || row !== undefined) && <GroupForm of={row} onClose={close} />
      }
    />
  )
}

function useColumns(): readonly Column<AnyGroup>[] {
  const { t } = useTranslation()
  return [
    { id: 'name', head: t('platform.group'), cell: ({ name }) => <b>{name}</b> },
    { id: 'protocol', head: t('calls.protocol'), kind: 'muted', cell: ({ protocol }) => protocol },
    {
      id: 'models',
      head: t('pages.models'),
      cell: ({ models }) => <span className={operator.wrapped}>{models.join(', ')}</span>,
    },
  ]
}
