import { classes } from '../marks/classes.ts'
import styles from './call-log.module.css'
import { useCallColumns } from './call-columns.tsx'
import { Ending } from './ending.tsx'
import type { LoggedCall } from './log-source.ts'
import { tokensOf } from './tokens.ts'
import { type Column, DataTable } from '../lists/data-table.tsx'
import table from '../lists/table.module.css'
import { useFormat } from '../values/format.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface CallTableProps {
  readonly rows: readonly LoggedCall[]
  readonly chosen: string | undefined
  readonly onChoose: (id: string) => void
  /** Names of keys, by id. */
  readonly keyNames: ReadonlyMap<string, string>
  /** Additional columns of this log, after the time. */
  readonly more?: readonly Column<LoggedCall>[] | undefined
}

export function CallTable({ rows, chosen, onChoose, keyNames, more = [] }: CallTableProps) {
  const { t } = useTranslation()
  const { time } = useCallColumns()
  const others = useColumns(keyNames)
  return (
    <DataTable
      label={t('pages.calls')}
      columns={[time, ...more, ...others]}
      rows={rows}
      idOf={({ request_id }) => request_id}
      chosen={chosen}
      onChoose={({ request_id: id }) => onChoose(id)}
    />
  )
}

function useColumns(names: ReadonlyMap<string, string>): readonly Column<LoggedCall>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const { cost, took, ending } = useCallColumns()
  return [
    {
      id: 'model',
      head: t('calls.askedUsed'),
      cell: (call) => <Model call={call} keyName={names.get(call.key_id ?? '')} />,
    },
    {
      id: 'tokens',
      head: t('calls.tokens'),
      kind: 'number',
      wide: true,
      cell: (call) => <Tokens call={call} />,
    },
    cost,
    {
      id: 'first',
      head: t('calls.firstByte'),
      kind: 'number',
      wide: true,
      cell: ({ first_byte_ms }) => (first_byte_ms === null ? '–' : format.duration(first_byte_ms)),
    },
    took,
    { ...ending, wide: false, cell: (call) => <Ended call={call} /> },
  ]
}

function Model({ call, keyName }: { readonly call: LoggedCall; readonly keyName: string | undefined }) {
  const format = useFormat()
  const { model, model_requested: asked, endpoint } = call
  const other = asked !== null && model !== null && asked !== model
  const facts = [...(other ? [`→ ${model}`] : []), ...(keyName === undefined ? [] : [keyName])]
  return (
    <>
      <span className={table.first}>{asked ?? model ?? endpoint}</span>
      <span className={table.second}>
        {facts.join(' · ')}
        <span className={table.phoneInline}>
          {facts.length > 0 && ' · '}
          {format.recent(call.created_at)}
        </span>
      </span>
    </>
  )
}

function Tokens({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { input, output } = tokensOf(call)
  if (input + output === 0) return '–'
  return (
    <span title={t('calls.tokensTitle', { input: format.number(input), output: format.number(output) })}>
      {format.number(input + output)}
    </span>
  )
}

/** How the call ended; for a failed one also the vendor's error text, if the person may see it. */
function Ended({ call }: { readonly call: LoggedCall }) {
  const said = call.attempts.at(-1)?.said ?? undefined
  return (
    <>
      <Ending call={call} />
      {said !== undefined && (
        <span className={classes(table.second, styles.said)} title={said}>
          {said}
        </span>
      )}
    </>
  )
}
