import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../values/format.ts'
import type { Column } from './data-table.tsx'
import table from './table.module.css'

/** When something was: short, and whole on hover. */
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

/** What can be done with a row, at its end: a `RowAction` or two, and a menu where there are more. */
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
  /** Of the first line, which may be cut. */
  readonly title?: string
}

/** A fact of a row, and below it another one that matters less. */
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
