import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { classes } from '../../parts/marks/classes.ts'
import page from '../../parts/page/page.module.css'
import { Amount } from '../../parts/values/amount.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { AccountLink } from '../parts/account-link.tsx'
import type { Earned } from '../parts/earned.ts'
import { Margin } from '../parts/margin.tsx'
import operator from '../parts/operator.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

export interface Group {
  readonly name: string
  /** The account's id, if the row is an account. */
  readonly account?: string
  readonly earned: Earned
}

interface SplitProps {
  readonly title: string
  /** The head of the name column. */
  readonly head: string
  readonly rows: readonly Group[]
}

/** Revenue and cost by group. */
export function Split({ title, head, rows }: SplitProps) {
  const columns = useColumns(head)
  return (
    <section className={classes(page.section, operator.even)}>
      <h2>{title}</h2>
      <DataTable label={title} columns={columns} rows={rows} idOf={({ name, account }) => account ?? name} />
    </section>
  )
}

function useColumns(head: string): readonly Column<Group>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    {
      id: 'name',
      head,
      cell: ({ name, account }) =>
        account === undefined ? <span title={name}>{name}</span> : <AccountLink id={account} name={name} />,
    },
    {
      id: 'calls',
      head: t('pages.calls'),
      kind: 'number',
      wide: true,
      cell: ({ earned }) => format.number(earned.calls),
    },
    {
      id: 'free',
      head: t('money.tabs.free'),
      kind: 'number',
      wide: true,
      cell: ({ earned }) => format.number(earned.free),
    },
    {
      id: 'revenue',
      head: t('catalogue.revenue'),
      kind: 'number',
      cell: ({ earned }) => <Amount value={earned.revenue} />,
    },
    {
      id: 'cost',
      head: t('catalogue.cost'),
      kind: 'number',
      wide: true,
      cell: ({ earned }) => (earned.cost === undefined ? '–' : <Amount value={earned.cost} />),
    },
    {
      id: 'margin',
      head: t('catalogue.margin'),
      kind: 'number',
      cell: ({ earned }) => <Margin of={earned} />,
    },
  ]
}
