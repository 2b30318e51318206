import { Button } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Batch, batchesQuery, voidBatch } from '../../api/operator/money.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { Icon } from '../../parts/marks/icon.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { useFormat } from '../../parts/values/format.ts'
import { MoreRows } from '../parts/more-rows.tsx'
import { useAddress } from '../parts/use-address.ts'
import { BatchSheet } from './batch-sheet.tsx'
import { CodesForm } from './codes-form.tsx'
import { Worth } from './top-ups.tsx'

/** Codes that are worth something: made in batches, and voided as long as nobody has redeemed them. */
export function Codes() {
  const { t } = useTranslation()
  const [making, make] = useState(false)
  const [voiding, ask] = useState<Batch>()
  const columns = useColumns(ask)
  const [{ open }, change] = useAddress()
  const batches = useInfiniteQuery(batchesQuery)
  const opened = batches.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === open)
  return (
    <>
      <div className={page.sectionHead}>
        <span className={page.muted}>{t('money.codesLead')}</span>
        <Button leftSection={<Icon name="plus" />} onClick={() => make(true)}>
          {t('money.makeCodes')}
        </Button>
      </div>
      <Loaded query={batches} height={320}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data)
          return rows.length === 0 ? (
            <Empty icon="gift" title={t('money.noCodes')}>
              {t('money.noCodesHint')}
            </Empty>
          ) : (
            <>
              <DataTable
                label={t('money.tabs.codes')}
                columns={columns}
                rows={rows}
                idOf={({ id }) => id}
                chosen={open}
                onChoose={({ id }) => change({ open: id }, 'push')}
              />
              <MoreRows query={batches} />
            </>
          )
        }}
      </Loaded>
      {opened !== undefined && <BatchSheet of={opened} onClose={() => change({ open: undefined })} />}
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
  return [
    { id: 'time', head: t('money.made'), kind: 'muted', cell: ({ created_at: at }) => format.recent(at) },
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
    {
      id: 'act',
      head: <span className={table.unseen}>{t('actions')}</span>,
      kind: 'actions',
      cell: (batch) =>
        batch.redeemed + batch.voided < batch.count && (
          <Button variant="default" size="xs" onClick={() => onVoid(batch)}>
            {t('money.void')}
          </Button>
        ),
    },
  ]
}
