import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { type Member, membersQuery } from '../api/members.ts'
import { memberUsageQuery } from '../api/organisations.ts'
import { LIVE_MS } from '../api/query-client.ts'
import { LimitBar } from '../parts/limits/limit-bar.tsx'
import { type Column, DataTable } from '../parts/lists/data-table.tsx'
import table from '../parts/lists/table.module.css'
import tags from '../parts/marks/tag.module.css'
import { late } from '../parts/page/late.ts'
import { Loaded } from '../parts/page/loaded.tsx'
import type { SheetAddress } from '../parts/page/use-sheet-address.ts'
import { Amount } from '../parts/values/amount.tsx'
import { isZero } from '../parts/values/decimal.ts'
import { useFormat } from '../parts/values/format.ts'
import { memberName } from './member-name.ts'
import styles from './organisation.module.css'
import { useCurrencySign } from '../parts/values/use-currency.ts'
import { useTranslation } from '../texts/use-translation.ts'

const MemberSheet = late(async () => (await import('./member-sheet.tsx')).MemberSheet)

interface MembersProps {
  readonly organisation: string
  /** The id of the member whose details are open. */
  readonly open: string | undefined
  readonly sheet: SheetAddress
}

/** The members, with their caps and usage of this month. */
export function Members({ organisation, open, sheet }: MembersProps) {
  const members = useQuery({ ...membersQuery(organisation), refetchInterval: LIVE_MS })
  const shown = members.data?.find(({ id }) => id === open)
  return (
    <>
      <Loaded query={members} height={200}>
        {(rows) => <Table rows={rows} organisation={organisation} onOpen={sheet.open} />}
      </Loaded>
      {shown !== undefined && (
        <Suspense>
          <MemberSheet key={shown.id} of={shown} organisation={organisation} onClose={sheet.close} />
        </Suspense>
      )}
    </>
  )
}

interface TableProps {
  readonly rows: readonly Member[]
  readonly organisation: string
  readonly onOpen: (id: string) => void
}

function Table({ rows, organisation, onOpen }: TableProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data: usage } = useQuery({ ...memberUsageQuery(organisation), refetchInterval: LIVE_MS })
  const usedBy = new Map(usage?.members.map((each) => [each.member, each]))
  const columns: readonly Column<Member>[] = [
    { id: 'name', head: t('organisation.person'), cell: (member) => <Name of={member} /> },
    {
      id: 'role',
      head: t('organisation.role'),
      kind: 'muted',
      cell: ({ role }) => t(`organisation.roles.${role}`),
    },
    { id: 'cap', head: t('organisation.month'), cell: (member) => <Cap of={member} /> },
    {
      id: 'calls',
      head: t('organisation.calls'),
      kind: 'number',
      wide: true,
      cell: ({ id }) => format.number(usedBy.get(id)?.calls ?? 0),
    },
    {
      id: 'credits',
      head: 'Credits',
      kind: 'number',
      wide: true,
      cell: ({ id }) => <Amount value={usedBy.get(id)?.deducted ?? '0'} />,
    },
    {
      id: 'joined',
      head: t('organisation.joined'),
      kind: 'muted',
      wide: true,
      cell: ({ joined_at: at }) => format.date(at),
    },
  ]
  return (
    <DataTable
      label={t('organisation.members')}
      columns={columns}
      rows={rows}
      idOf={({ id }) => id}
      isQuiet={({ status }) => status === 'suspended'}
      onChoose={({ id }) => onOpen(id)}
    />
  )
}

function Name({ of: member }: { readonly of: Member }) {
  const { t } = useTranslation()
  const name = memberName(member)
  return (
    <>
      <span className={table.first}>
        {name}{' '}
        {member.status === 'suspended' && <span className={tags.tag}>{t('organisation.suspended')}</span>}
      </span>
      {member.email !== null && member.email !== name && <span className={table.second}>{member.email}</span>}
    </>
  )
}

/** Spending of this month against the cap. */
function Cap({
  of: { monthly_cap_yuan: cap, month_spent_yuan: spent, month_held_yuan: held },
}: {
  readonly of: Member
}) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const format = useFormat()
  const used = Number(spent) + Number(held)
  if (isZero(cap))
    return (
      <span className={table.muted}>
        {t('organisation.noCap', { spent: `${sign}${format.number(spent, 2)}` })}
      </span>
    )
  const words = t('organisation.ofCap', {
    spent: `${sign}${format.number(used, 2)}`,
    cap: `${sign}${format.number(cap, 2)}`,
  })
  return (
    <span className={styles.cap}>
      {words}
      <LimitBar used={used / Number(cap)} label={words} />
    </span>
  )
}
