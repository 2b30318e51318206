import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  startTransition,
  useEffect,
  useState,
} from 'react'
import { classes } from '../marks/classes.ts'
import { IS_NARROW } from '../page/narrow.ts'
import table from './table.module.css'

export interface Column<Row> {
  readonly id: string
  readonly head: ReactNode
  /** `number`: right-aligned, with tabular figures. */
  readonly kind?: 'number' | 'muted' | 'actions'
  /** Hidden on a phone. */
  readonly wide?: boolean
  readonly cell: (row: Row) => ReactNode
}

export interface DataTableProps<Row> {
  /** The name of the table, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => string
  /** The id of the row whose details are open. */
  readonly chosen?: string | undefined
  /** A row is opened by a click or by Enter; the arrow keys walk from row to row. */
  readonly onChoose?: (row: Row) => void
  /** Whether the row is muted: disabled or out of date. */
  readonly isQuiet?: (row: Row) => boolean
}

/** As many as fit on a screen; the others are rendered after them. */
const FIRST_ROWS = IS_NARROW ? 12 : 24

/** A table with a sticky head; rows can be opened by mouse and keyboard. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  idOf,
  chosen,
  onChoose,
  isQuiet,
}: DataTableProps<Row>) {
  const rendered = useRendered(rows)
  const rowOf = (row: Row): ReactNode => {
    const id = idOf(row)
    return (
      <tr
        key={id}
        data-chosen={id === chosen || undefined}
        data-quiet={isQuiet?.(row) === true ? true : undefined}
        {...(onChoose === undefined ? {} : opening(() => onChoose(row), row === rows[0] || id === chosen))}
      >
        {columns.map((column) => (
          <td key={column.id} className={classOf(column)}>
            {column.cell(row)}
          </td>
        ))}
      </tr>
    )
  }
  return (
    <div className={columns.some(({ wide }) => wide === true) ? undefined : table.moved}>
      <table className={table.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} className={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rendered.map(rowOf)}</tbody>
      </table>
    </div>
  )
}

/**
 * The rows to render: as many as fit on a screen when rows arrive first, then all, in short tasks. Always one list of keys, so
 * that a row that moves down stays the same element and keeps the focus.
 */
function useRendered<Row>(rows: readonly Row[]): readonly Row[] {
  const [state, setState] = useState<'none' | 'first' | 'all'>('none')
  const now = state !== 'none' || rows.length === 0 ? state : rows.length > FIRST_ROWS ? 'first' : 'all'
  if (now !== state) setState(now)
  useEffect(() => {
    if (now === 'first') startTransition(() => setState('all'))
  }, [now])
  return now === 'first' ? rows.slice(0, FIRST_ROWS) : rows
}

function classOf({ kind, wide }: Pick<Column<never>, 'kind' | 'wide'>): string {
  return classes(kind !== undefined && table[kind], wide === true && table.wide)
}

/** The properties of a row that can be opened. */
function opening(choose: () => void, isFirst: boolean) {
  return {
    className: table.opens,
    tabIndex: isFirst ? 0 : -1,
    onClick: (event: MouseEvent<HTMLTableRowElement>) => {
      if (isOfTheRow(event)) choose()
    },
    onKeyDown: (event: KeyboardEvent<HTMLTableRowElement>) => {
      if (event.target !== event.currentTarget) return
      if (event.key === 'Enter') choose()
      const next =
        event.key === 'ArrowDown'
          ? event.currentTarget.nextElementSibling
          : event.key === 'ArrowUp'
            ? event.currentTarget.previousElementSibling
            : null
      if (!(next instanceof HTMLElement)) return
      event.preventDefault()
      next.focus()
      // An open sheet follows the focus.
      if (event.currentTarget.dataset['chosen'] !== undefined) next.click()
    },
  }
}

/** Whether the click is on the row itself, not on a control in it or in a menu portalled out of it. */
function isOfTheRow({ target, currentTarget }: MouseEvent<HTMLElement>): boolean {
  return (
    target instanceof Element && currentTarget.contains(target) && target.closest('button, a, input') === null
  )
}
