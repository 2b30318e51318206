import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Call } from '../api/calls.ts'
import { keysQuery } from '../api/keys.ts'
import { useOrganisationId } from '../api/session.ts'
import { Cost } from '../parts/calls/cost.tsx'
import { Ending } from '../parts/calls/ending.tsx'
import { tokensOf } from '../parts/calls/tokens.ts'
import { type Column, DataTable } from '../parts/lists/data-table.tsx'
import table from '../parts/lists/table.module.css'
import { useFormat } from '../parts/values/format.ts'

interface CallTableProps {
  readonly rows: readonly Call[]
  readonly chosen: string | undefined
  readonly onChoose: (call: Call) => void
}

export function CallTable({ rows, chosen, onChoose }: CallTableProps) {
  const { t } = useTranslation()
  const columns = useColumns()
  return (
    <DataTable
      label={t('pages.calls')}
      columns={columns}
      rows={rows}
      idOf={({ request_id }) => request_id}
      chosen={chosen}
      onChoose={onChoose}
    />
  )
}

function useColumns(): readonly Column<Call>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const { data: keys = [] } = useQuery(keysQuery(useOrganisationId()))
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  return [
    {
      id: 'time',
      head: t('calls.time'),
      kind: 'muted',
      wide: true,
      cell: ({ created_at }) => format.recent(created_at),
    },
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
    { id: 'cost', head: 'Credits', kind: 'number', cell: (call) => <Cost call={call} /> },
    {
      id: 'first',
      head: t('calls.firstByte'),
      kind: 'number',
      wide: true,
      cell: ({ first_byte_ms }) => (first_byte_ms === null ? '–' : format.duration(first_byte_ms)),
    },
    {
      id: 'took',
      head: t('calls.took'),
      kind: 'number',
      wide: true,
      cell: ({ duration_ms }) => format.duration(duration_ms),
    },
    { id: 'ending', head: t('calls.ending'), cell: (call) => <Ending call={call} /> },
  ]
}

function Model({ call, keyName }: { readonly call: Call; readonly keyName: string | undefined }) {
  const format = useFormat()
  const { model, model_requested: asked, endpoint } = call
  const other = asked !== null && model !== null && asked !== model
  return (
    <>
      <span className={table.first}>{asked ?? model ?? endpoint}</span>
      <span className={table.second}>
        {[...(other ? [`→ ${model}`] : []), ...(keyName === undefined ? [] : [keyName])].join(' · ')}
        <span className={table.phoneInline}> · {format.recent(call.created_at)}</span>
      </span>
    </>
  )
}

function Tokens({ call }: { readonly call: Call }) {
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
