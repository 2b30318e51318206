import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { type AnyKey, anyKeysQuery, type MadeKey } from '../../api/operator/accounts.ts'
import { anyGroupsQuery } from '../../api/operator/groups.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import type { Column } from '../../parts/lists/data-table.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { choiceField, present } from '../../parts/lists/search-fields.ts'
import table from '../../parts/lists/table.module.css'
import { State } from '../../parts/marks/state.tsx'
import { late } from '../../parts/page/late.ts'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { AccountFilter } from '../parts/account-filter.tsx'
import { AccountLink } from '../parts/account-link.tsx'
import { Find } from '../parts/find.tsx'
import { FoundList, rowsOf } from '../parts/found-list.tsx'
import { useAddress } from '../parts/use-address.ts'
import { useFind } from '../parts/use-find.ts'
import { useKeyColumns } from './key-columns.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const AccountKeyForm = late(async () => (await import('./account-key-form.tsx')).AccountKeyForm)
const KeyOnce = late(async () => (await import('./key-once.tsx')).KeyOnce)

const STATES = ['enabled', 'expired', 'disabled'] as const

/** The keys of all accounts: owner, last use and actions. */
export function AnyKeysPage() {
  const { t } = useTranslation()
  const [, , sheet] = useAddress()
  const [made, show] = useState<MadeKey>()
  const keys = useFoundKeys()
  const columns = useColumns({ onEdit: ({ id }) => sheet.open(id), onReady: show })
  return (
    <>
      <PageHead title={t('operate.pages.keys')} lead={t('accounts.keysLead')} />
      <KeyFilters />
      <FoundList
        query={keys}
        height={480}
        none={{ icon: 'key', title: t('accounts.noKeyFits'), hint: t('accounts.noKeyFitsHint') }}
        label={t('operate.pages.keys')}
        columns={columns}
        rows={rowsOf(keys)}
        idOf={({ id }) => id}
        isQuiet={(key) => stateOf(key) !== 'enabled'}
        sheet={({ row, close }) =>
          row !== undefined && (
            <AccountKeyForm account={row.account_id} of={row} onClose={close} onMade={show} />
          )
        }
      />
      <Suspense>{made !== undefined && <KeyOnce of={made} onClose={() => show(undefined)} />}</Suspense>
    </>
  )
}

function useFoundKeys() {
  const [{ account, group, state }] = useAddress()
  return useInfiniteQuery({
    ...anyKeysQuery(
      present({
        search: useFind(),
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

function StateOf({ of }: { readonly of: AnyKey }) {
  const { t } = useTranslation()
  const state = stateOf(of)
  return <State {...SIGNS[state]}>{t(`keys.states.${state}`)}</State>
}

interface LastUseProps {
  readonly at: string | null
  /** Text for a key that was never used. */
  readonly never: string
}

function LastUse({ at, never }: LastUseProps) {
  const format = useFormat()
  return at === null ? never : <span title={format.moment(at)}>{format.ago(at)}</span>
}

interface ColumnsOf {
  readonly onEdit: (key: AnyKey) => void
  readonly onReady: (made: MadeKey) => void
}

function useColumns(acts: ColumnsOf): readonly Column<AnyKey>[] {
  const { t } = useTranslation()
  const { name, expires, actions } = useKeyColumns<AnyKey>({ accountOf: (key) => key.account_id, ...acts })
  return [
    name,
    {
      id: 'account',
      head: t('operate.account'),
      cell: (key) => (
        <>
          <AccountLink id={key.account_id} name={key.account_name} />
          <span className={table.phone}>
            <StateOf of={key} />
            <span className={table.muted}>
              {' · '}
              <LastUse at={key.last_used_at} never={t('keys.unused')} />
            </span>
          </span>
        </>
      ),
    },
    {
      id: 'state',
      head: t('operate.state'),
      wide: true,
      cell: (key) => <StateOf of={key} />,
    },
    {
      id: 'used',
      head: t('keys.lastUse'),
      kind: 'muted',
      wide: true,
      cell: ({ last_used_at: at }) => <LastUse at={at} never={t('keys.neverUsed')} />,
    },
    expires,
    actions,
  ]
}
