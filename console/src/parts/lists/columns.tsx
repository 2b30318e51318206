import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useFormat } from '../values/format.ts'
import type { Column } from './data-table.tsx'
import table from './table.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** A moment: short, with the complete one in the title. */
export function useTimeColumn<Row>(
  at: (row: Row) => string,
  more: Partial<Pick<Column<Row>, 'head' | 'wide'>> = {},
): Column<Row> {
  const { t } = useTranslation()
  const format = useFormat()
  return {
    id: 'time',
    head: t('calls.time'),
    kind: 'muted',
    cell: (row) => <span title={format.moment(at(row))}>{format.recent(at(row))}</span>,
    ...more,
  }
}

/** The actions of a row, at its end: one or two `RowAction`, and a menu if there are more. */
export function useActionsColumn<Row>(cell: (row: Row) => ReactNode): Column<Row> {
  const { t } = useTranslation()
  return {
    id: 'actions',
    head: <span className={table.unseen}>{t('actions')}</span>,
    kind: 'actions',
    cell: (row) => <span className={table.acts}>{cell(row)}</span>,
  }
}

interface RowActionProps {
  /** The verb. */
  readonly children: string
  /** With the name of the row, where the verb would be the same in every row. */
  readonly label?: string
  readonly loading?: boolean
  /** Shown on hover and on focus only, and never on a phone: the menu beside it has the same. */
  readonly onHover?: boolean
  readonly onClick: () => void
}

export function RowAction({ children, label, loading = false, onHover = false, onClick }: RowActionProps) {
  return (
    <Button
      variant="default"
      size="xs"
      aria-label={label}
      loading={loading}
      className={onHover ? table.onHover : undefined}
      onClick={onClick}
    >
      {children}
    </Button>
  )
}

interface TwoLinesProps {
  readonly first: ReactNode
  readonly second: ReactNode
  /** The complete first line, which may be cut off. */
  readonly title?: string
}

/** A cell of two lines; the second one is muted. */
export function TwoLines({ first, second, title }: TwoLinesProps) {
  return (
    <>
      <span className={table.first} title={title}>
        {first}
      </span>
      <span className={table.second}>{second}</span>
    </>
  )
}
