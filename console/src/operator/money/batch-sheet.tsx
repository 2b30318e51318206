import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Batch, type Code, codesQuery, voidCode } from '../../api/operator/money.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Sheet } from '../../parts/forms/dialog.tsx'
import { RowAction, useActionsColumn } from '../../parts/lists/columns.tsx'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { Marked } from '../../parts/marks/marked.tsx'
import { State } from '../../parts/marks/state.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { AccountLink } from '../parts/account-link.tsx'
import { MoreRows } from '../parts/more-rows.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** The codes of a batch: which were redeemed and by whom; open ones can be voided. */
export function BatchSheet({ of, onClose }: { readonly of: Batch; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const format = useFormat()
  const [voiding, ask] = useState<Code>()
  const codes = useInfiniteQuery(codesQuery(of.id))
  const columns = useColumns(ask)
  return (
    <Sheet
      title={of.note ?? t('money.batchOf', { day: format.date(of.created_at) })}
      size={640}
      onClose={onClose}
    >
      <Loaded query={codes} height={320}>
        {({ pages }) => (
          <>
            <DataTable
              label={t('money.codes')}
              columns={columns}
              rows={pages.flatMap(({ data }) => data)}
              idOf={({ id }) => id}
              isQuiet={({ status }) => status !== 'open'}
            />
            <MoreRows query={codes} />
          </>
        )}
      </Loaded>
      {voiding !== undefined && <VoidCode of={voiding} onClose={() => ask(undefined)} />}
    </Sheet>
  )
}

function VoidCode({ of, onClose }: { readonly of: Code; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  return (
    <Confirm
      title={t('money.voidOneTitle')}
      action={t('money.void')}
      onConfirm={async () => {
        await voidCode(of.id)
        await queryClient.invalidateQueries({ queryKey: ['batches'] })
      }}
      onClose={onClose}
    >
      <Marked text={t('money.voidOneText', { code: `${of.hint}-…` })} />
    </Confirm>
  )
}

const STATES = {
  open: { icon: 'clock', tone: 'quiet' },
  redeemed: { icon: 'done', tone: 'good' },
  void: { icon: 'failed', tone: 'warn' },
} as const

function useColumns(onVoid: (code: Code) => void): readonly Column<Code>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    { id: 'code', head: t('money.code'), cell: ({ hint }) => <code>{hint}-…</code> },
    {
      id: 'status',
      head: t('operate.state'),
      cell: ({ status }) => <State {...STATES[status]}>{t(`money.codeStates.${status}`)}</State>,
    },
    {
      id: 'by',
      head: t('money.redeemedBy'),
      kind: 'muted',
      cell: ({ redeemed_by: by, redeemed_at: at }) =>
        by === null ? (
          '–'
        ) : (
          <>
            <span className={table.first}>
              <AccountLink id={by} />
            </span>
            {at !== null && <span className={table.second}>{format.recent(at)}</span>}
          </>
        ),
    },
    useActionsColumn<Code>(
      (code) =>
        code.status === 'open' && <RowAction onClick={() => onVoid(code)}>{t('money.void')}</RowAction>,
    ),
  ]
}
