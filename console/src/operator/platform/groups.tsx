import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { type AnyGroup, anyGroupsQuery } from '../../api/operator/groups.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { late } from '../../parts/page/late.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import operator from '../parts/operator.module.css'
import { useAddress } from '../parts/use-address.ts'

const GroupForm = late(async () => (await import('./group-form.tsx')).GroupForm)

/** What stands in the address in place of a name while one is made; no name begins like it. */
export const NEW_GROUP = '+new'

/** What keys are bound to: a protocol, and the only models they may call. */
export function Groups() {
  const { t } = useTranslation()
  const [{ open }, change] = useAddress()
  const groups = useQuery(anyGroupsQuery)
  const columns = useColumns()
  const edited = groups.data?.find(({ name }) => name === open)
  return (
    <>
      <Loaded query={groups} height={240}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="key" title={t('platform.noGroups')}>
              {t('platform.noGroupsHint')}
            </Empty>
          ) : (
            <DataTable
              label={t('platform.tabs.groups')}
              columns={columns}
              rows={all}
              idOf={({ name }) => name}
              chosen={open}
              onChoose={({ name }) => change({ open: name }, 'push')}
            />
          )
        }
      </Loaded>
      <Suspense>
        {(open === NEW_GROUP || edited !== undefined) && (
          <GroupForm key={open} of={edited} onClose={() => change({ open: undefined })} />
        )}
      </Suspense>
    </>
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
