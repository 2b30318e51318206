import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type AnyKey, anyKeysQuery, type MadeKey } from '../../api/operator/accounts.ts'
import { anyGroupsQuery } from '../../api/operator/groups.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { choiceField, present } from '../../parts/lists/search-fields.ts'
import { State } from '../../parts/marks/state.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { late } from '../../parts/page/late.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { AccountFilter } from '../parts/account-filter.tsx'
import { AccountLink } from '../parts/account-link.tsx'
import { Find } from '../parts/find.tsx'
import { MoreRows } from '../parts/more-rows.tsx'
import { useAddress } from '../parts/use-address.ts'
import { useKeyColumns } from './key-columns.tsx'

const AccountKeyForm = late(async () => (await import('./account-key-form.tsx')).AccountKeyForm)
const KeyOnce = late(async () => (await import('./key-once.tsx')).KeyOnce)

const STATES = ['enabled', 'expired', 'disabled'] as const
/** Ms without typing before the search begins. */
const TYPING_MS = 200

/** The keys of all accounts: whose they are, whether they are used, and what can be done with them. */
export function AnyKeysPage() {
  const { t } = useTranslation()
  const [{ open }, change] = useAddress()
  const [made, show] = useState<MadeKey>()
  const keys = useFoundKeys()
  const rows = keys.data?.pages.flatMap(({ data }) => data) ?? []
  const opened = rows.find(({ id }) => id === open)
  const columns = useColumns({ onEdit: ({ id }) => change({ open: id }, 'push'), onReady: show })
  return (
    <>
      <PageHead title={t('operate.pages.keys')} lead={t('accounts.keysLead')} />
      <KeyFilters />
      <Loaded query={keys} height={480}>
        {() =>
          rows.length === 0 ? (
            <Empty icon="key" title={t('accounts.noKeyFits')}>
              {t('accounts.noKeyFitsHint')}
            </Empty>
          ) : (
            <>
              <DataTable
                label={t('operate.pages.keys')}
                columns={columns}
                rows={rows}
                idOf={({ id }) => id}
                chosen={open}
                isQuiet={(key) => stateOf(key) !== 'enabled'}
                onChoose={({ id }) => change({ open: id }, 'push')}
              />
              <MoreRows query={keys} />
            </>
          )
        }
      </Loaded>
      <Suspense>
        {opened !== undefined && (
          <AccountKeyForm
            key={opened.id}
            account={opened.account_id}
            of={opened}
            onClose={() => change({ open: undefined })}
            onMade={show}
          />
        )}
        {made !== undefined && <KeyOnce of={made} onClose={() => show(undefined)} />}
      </Suspense>
    </>
  )
}

function useFoundKeys() {
  const [{ find, account, group, state }] = useAddress()
  const [search] = useDebouncedValue(find?.trim(), TYPING_MS)
  return useInfiniteQuery({
    ...anyKeysQuery(
      present({
        search: search === '' ? undefined : search,
        account_id: account,
        group,
        state: choiceField(state, STATES),
      }),
    ),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  })
}

function KeyFilters() {
  const { t } = useTranslation()
  const [{ find, account, group, state }, change] = useAddress()
  const { data: groups = [] } = useQuery(anyGroupsQuery)
  return (
    <Filters>
      <Find label={t('accounts.findKey')} value={find} onChange={(text) => change({ find: text })} />
      <AccountFilter value={account} onChange={(id) => change({ account: id })} />
      <Filter
        label={t('operate.state')}
        value={choiceField(state, STATES)}
        options={STATES.map((value) => ({ value, label: t(`keys.states.${value}`) }))}
        onChange={(value) => change({ state: value })}
      />
      {groups.length > 0 && (
        <Filter
          label={t('keys.group')}
          value={group}
          options={groups.map(({ name }) => ({ value: name, label: name }))}
          onChange={(value) => change({ group: value })}
        />
      )}
    </Filters>
  )
}

const SIGNS = {
  enabled: { icon: 'done', tone: 'good' },
  expired: { icon: 'failed', tone: 'warn' },
  disabled: { icon: 'paused', tone: 'quiet' },
} as const

function stateOf({ status, expires_at: end }: AnyKey): (typeof STATES)[number] {
  if (status !== 'enabled') return 'disabled'
  return end !== null && Date.parse(end) <= Date.now() ? 'expired' : 'enabled'
}

interface ColumnsOf {
  readonly onEdit: (key: AnyKey) => void
  readonly onReady: (made: MadeKey) => void
}

function useColumns(acts: ColumnsOf): readonly Column<AnyKey>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const { name, expires, actions } = useKeyColumns<AnyKey>({ accountOf: (key) => key.account_id, ...acts })
  return [
    name,
    {
      id: 'account',
      head: t('operate.account'),
      cell: ({ account_id: id, account_name: called }) => <AccountLink id={id} name={called} />,
    },
    {
      id: 'state',
      head: t('operate.state'),
      wide: true,
      cell: (key) => <State {...SIGNS[stateOf(key)]}>{t(`keys.states.${stateOf(key)}`)}</State>,
    },
    {
      id: 'used',
      head: t('keys.lastUse'),
      kind: 'muted',
      wide: true,
      cell: ({ last_used_at: at }) =>
        at === null ? t('keys.neverUsed') : <span title={format.moment(at)}>{format.ago(at)}</span>,
    },
    expires,
    actions,
  ]
}
