import { Button } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { type AccountRow, accountsQuery } from '../../api/operator/accounts.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import type { Column } from '../../parts/lists/data-table.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { choiceField, present } from '../../parts/lists/search-fields.ts'
import table from '../../parts/lists/table.module.css'
import { Icon } from '../../parts/marks/icon.tsx'
import { late } from '../../parts/page/late.ts'
import { PageHead } from '../../parts/page/page-head.tsx'
import { Amount } from '../../parts/values/amount.tsx'
import { Balance } from '../../parts/values/balance.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { Find } from '../parts/find.tsx'
import { FoundList, rowsOf } from '../parts/found-list.tsx'
import operator from '../parts/operator.module.css'
import { useAddress } from '../parts/use-address.ts'
import { useFind } from '../parts/use-find.ts'
import { namesOf } from '../parts/account-name.ts'
import { AccountState, AccountTags } from './account-state.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const AccountSheet = late(async () => (await import('./account-sheet.tsx')).AccountSheet)
const AddAccount = late(async () => (await import('./add-account.tsx')).AddAccount)

const KINDS = ['person', 'organisation'] as const
const ROLES = ['user', 'admin'] as const
const STATES = ['active', 'suspended'] as const
/** In the address in place of an id while an account is created. */
const NEW = 'new'

export function AccountsPage() {
  const { t } = useTranslation()
  const [, , sheet] = useAddress()
  return (
    <>
      <PageHead title={t('operate.pages.accounts')} lead={t('accounts.lead')}>
        <Button leftSection={<Icon name="plus" />} onClick={() => sheet.open(NEW)}>
          {t('accounts.add')}
        </Button>
      </PageHead>
      <AccountFilters />
      <List />
    </>
  )
}

function AccountFilters() {
  const { t } = useTranslation()
  const [{ find, kind, role, state }, change] = useAddress()
  return (
    <Filters>
      <Find label={t('accounts.find')} value={find} onChange={(text) => change({ find: text })} />
      <Filter
        label={t('accounts.kind')}
        value={choiceField(kind, KINDS)}
        options={KINDS.map((value) => ({ value, label: t(`accounts.kinds.${value}`) }))}
        onChange={(value) => change({ kind: value })}
      />
      <Filter
        label={t('accounts.role')}
        value={choiceField(role, ROLES)}
        options={ROLES.map((value) => ({ value, label: t(`accounts.roles.${value}`) }))}
        onChange={(value) => change({ role: value })}
      />
      <Filter
        label={t('operate.state')}
        value={choiceField(state, STATES)}
        options={STATES.map((value) => ({ value, label: t(`accounts.states.${value}`) }))}
        onChange={(value) => change({ state: value })}
      />
    </Filters>
  )
}

function List() {
  const { t } = useTranslation()
  const [{ kind, role, state }, change] = useAddress()
  const columns = useColumns()
  const accounts = useInfiniteQuery({
    ...accountsQuery(
      present({
        search: useFind(),
        kind: choiceField(kind, KINDS),
        role: choiceField(role, ROLES),
        status: choiceField(state, STATES),
      }),
    ),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  })
  const show = (id: string): void => change({ open: id }, 'push')
  return (
    <FoundList
      query={accounts}
      height={480}
      none={{ icon: 'person', title: t('accounts.none'), hint: t('accounts.noneHint') }}
      label={t('operate.pages.accounts')}
      columns={columns}
      rows={rowsOf(accounts)}
      idOf={({ id }) => id}
      isQuiet={({ status }) => status === 'suspended'}
      sheet={({ id, close }) =>
        id === NEW ? (
          <AddAccount onClose={close} onMade={(made) => change({ open: made })} />
        ) : (
          <AccountSheet id={id} onOpen={show} onClose={close} />
        )
      }
    />
  )
}

function useColumns(): readonly Column<AccountRow>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    { id: 'name', head: t('accounts.account'), cell: (account) => <Name of={account} /> },
    { id: 'state', head: t('operate.state'), wide: true, cell: (account) => <AccountState of={account} /> },
    {
      id: 'credits',
      head: 'Credits',
      kind: 'number',
      cell: ({ credits }) => <Amount value={credits} />,
    },
    {
      id: 'balance',
      head: t('accounts.balance'),
      kind: 'number',
      wide: true,
      cell: ({ balance }) => <Balance value={balance} />,
    },
    {
      id: 'month',
      head: t('accounts.month'),
      kind: 'number',
      wide: true,
      cell: ({ month_spent_yuan: spent }) => <Balance value={spent} />,
    },
    { id: 'plan', head: t('overview.plan'), wide: true, kind: 'muted', cell: ({ plan }) => plan ?? '–' },
    {
      id: 'since',
      head: t('accounts.since'),
      kind: 'muted',
      wide: true,
      cell: ({ created_at: at }) => <span title={format.moment(at)}>{format.date(at)}</span>,
    },
  ]
}

function Name({ of }: { readonly of: AccountRow }) {
  const { name, also } = namesOf(of)
  return (
    <>
      <span className={operator.named}>
        <span className={table.chosen}>{name}</span>
        <AccountTags of={of} />
      </span>
      <span className={table.second}>{also}</span>
    </>
  )
}
