import { Button } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Batch, batchesQuery, voidBatch } from '../../api/operator/money.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { RowAction, useActionsColumn, useTimeColumn } from '../../parts/lists/columns.tsx'
import type { Column } from '../../parts/lists/data-table.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import page from '../../parts/page/page.module.css'
import { useFormat } from '../../parts/values/format.ts'
import { FoundList, rowsOf } from '../parts/found-list.tsx'
import { BatchSheet } from './batch-sheet.tsx'
import { CodesForm } from './codes-form.tsx'
import { Worth } from './top-ups.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Redemption codes: created in batches; those that are not redeemed can be voided. */
export function Codes() {
  const { t } = useTranslation()
  const [making, make] = useState(false)
  const [voiding, ask] = useState<Batch>()
  const columns = useColumns(ask)
  const batches = useInfiniteQuery(batchesQuery)
  return (
    <>
      <div className={page.sectionHead}>
        <span className={page.muted}>{t('money.codesLead')}</span>
        <Button leftSection={<Icon name="plus" />} onClick={() => make(true)}>
          {t('money.makeCodes')}
        </Button>
      </div>
      <FoundList
        query={batches}
        height={320}
        none={{ icon: 'gift', title: t('money.noCodes'), hint: t('money.noCodesHint') }}
        label={t('money.tabs.codes')}
        columns={columns}
        rows={rowsOf(batches)}
        idOf={({ id }) => id}
        sheet={({ row, close }) => row !== undefined && <BatchSheet of={row} onClose={close} />}
      />
      {making && <CodesForm onClose={() => make(false)} />}
      {voiding !== undefined && <VoidBatch of={voiding} onClose={() => ask(undefined)} />}
    </>
  )
}

function VoidBatch({ of, onClose }: { readonly of: Batch; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  return (
    <Confirm
      title={t('money.voidTitle')}
      action={t('money.void')}
      onConfirm={async () => {
        await voidBatch(of.id)
        await queryClient.invalidateQueries({ queryKey: ['batches'] })
      }}
      onClose={onClose}
    >
      {t('money.voidText', { count: of.count - of.redeemed - of.voided })}
    </Confirm>
  )
}

function useColumns(onVoid: (batch: Batch) => void): readonly Column<Batch>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const time = useTimeColumn<Batch>(({ created_at: at }) => at, { head: t('money.made') })
  const actions = useActionsColumn<Batch>(
    (batch) =>
      batch.redeemed + batch.voided < batch.count && (
        <RowAction onClick={() => onVoid(batch)}>{t('money.void')}</RowAction>
      ),
  )
  return [
    time,
    { id: 'note', head: t('money.note'), cell: ({ note }) => note ?? '–' },
    { id: 'worth', head: t('money.worth'), kind: 'number', cell: (batch) => <Worth of={batch} /> },
    { id: 'count', head: t('money.codes'), kind: 'number', cell: ({ count }) => format.number(count) },
    {
      id: 'redeemed',
      head: t('money.redeemed'),
      kind: 'number',
      cell: ({ redeemed }) => format.number(redeemed),
    },
    { id: 'voided', head: t('money.voided'), kind: 'number', cell: ({ voided }) => format.number(voided) },
    {
      id: 'until',
      head: t('money.until'),
      kind: 'muted',
      cell: ({ expires_at: at }) => (at === null ? '–' : format.date(at)),
    },
    actions,
  ]
}
