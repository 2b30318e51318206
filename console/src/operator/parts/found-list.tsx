import { type ReactNode, Suspense } from 'react'
import { DataTable, type DataTableProps } from '../../parts/lists/data-table.tsx'
import type { IconName } from '../../parts/marks/icon.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded, type LoadedProps } from '../../parts/page/loaded.tsx'
import { MoreRows, type MoreRowsProps } from './more-rows.tsx'
import { useAddress } from './use-address.ts'

interface Opened<Row> {
  /** `open` of the address: the id of a row, or the placeholder while one is created. */
  readonly id: string
  /** undefined: the id is not among the rows loaded so far. */
  readonly row: Row | undefined
  readonly close: () => void
}

interface FoundListProps<Row>
  extends Pick<DataTableProps<Row>, 'label' | 'columns' | 'rows' | 'idOf' | 'isQuiet'> {
  /** Where the rows come from, page by page or all at once. */
  readonly query: LoadedProps<unknown>['query'] | (LoadedProps<unknown>['query'] & MoreRowsProps['query'])
  /** Px of the list while it is loaded. */
  readonly height: number
  /** The empty state. */
  readonly none: {
    readonly icon: IconName
    readonly title: string
    readonly hint?: string | undefined
    readonly action?: ReactNode
  }
  /** The sheet of the row that `open` of the address names. */
  readonly sheet?: (opened: Opened<Row>) => ReactNode
  /** Called when a row is chosen, if the list has no sheet. */
  readonly onChoose?: (row: Row) => void
}

/** A list of an operator's page: loading and empty states, paging, and the sheet of the open row. */
export function FoundList<Row>({ query, height, none, sheet, onChoose, ...of }: FoundListProps<Row>) {
  const [{ open }, , { open: openSheet, close }] = useAddress()
  const choose = onChoose ?? (sheet === undefined ? undefined : (row: Row) => openSheet(of.idOf(row)))
  return (
    <>
      <Loaded query={query} height={height}>
        {() =>
          of.rows.length === 0 ? (
            <Empty icon={none.icon} title={none.title} action={none.action}>
              {none.hint}
            </Empty>
          ) : (
            <>
              <DataTable
                {...of}
                chosen={sheet === undefined ? undefined : open}
                {...(choose === undefined ? {} : { onChoose: choose })}
              />
              {'fetchNextPage' in query && <MoreRows query={query} />}
            </>
          )
        }
      </Loaded>
      <Suspense key={open}>
        {open !== undefined &&
          sheet?.({
            id: open,
            row: of.rows.find((row) => of.idOf(row) === open),
            close,
          })}
      </Suspense>
    </>
  )
}

interface Paged<Row> {
  readonly data: { readonly pages: readonly { readonly data: readonly Row[] }[] } | undefined
}

/** The rows of all pages that were read so far. */
export const rowsOf = <Row,>({ data }: Paged<Row>): readonly Row[] =>
  data?.pages.flatMap(({ data: rows }) => rows) ?? []
