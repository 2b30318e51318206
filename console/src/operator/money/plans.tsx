import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Plan, plansQuery, removePlan } from '../../api/operator/plans.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { RowAction, useActionsColumn } from '../../parts/lists/columns.tsx'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { Amount } from '../../parts/values/amount.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { PlanForm } from './plan-form.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Plans on sale. */
export function Plans() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [edited, edit] = useState<Plan | 'new'>()
  const [removed, ask] = useState<Plan>()
  const columns = useColumns(ask)
  const plans = useQuery(plansQuery)
  return (
    <>
      <div className={page.sectionHead}>
        <span className={page.muted}>{t('money.plansLead')}</span>
        <Button leftSection={<Icon name="plus" />} onClick={() => edit('new')}>
          {t('money.addPlan')}
        </Button>
      </div>
      <Loaded query={plans} height={240}>
        {(all) =>
          all.length === 0 ? (
            <NoPlans />
          ) : (
            <DataTable
              label={t('money.tabs.plans')}
              columns={columns}
              rows={all}
              idOf={({ code }) => code}
              onChoose={edit}
            />
          )
        }
      </Loaded>
      {edited !== undefined && (
        <PlanForm of={edited === 'new' ? undefined : edited} onClose={() => edit(undefined)} />
      )}
      {removed !== undefined && (
        <Confirm
          title={t('money.removePlanTitle', { plan: removed.code })}
          action={t('money.remove')}
          onConfirm={async () => {
            await removePlan(removed.code)
            await queryClient.invalidateQueries({ queryKey: ['plans'] })
          }}
          onClose={() => ask(undefined)}
        >
          {t('money.removePlanText')}
        </Confirm>
      )}
    </>
  )
}

function NoPlans() {
  const { t } = useTranslation()
  return (
    <Empty icon="wallet" title={t('money.noPlans')}>
      {t('money.noPlansHint')}
    </Empty>
  )
}

function useColumns(onRemove: (plan: Plan) => void): readonly Column<Plan>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    { id: 'code', head: t('overview.plan'), cell: ({ code }) => code },
    { id: 'level', head: t('money.level'), kind: 'number', cell: ({ level }) => format.number(level) },
    {
      id: 'price',
      head: t('money.price'),
      kind: 'number',
      cell: ({ price, currency }) => <Amount value={String(price)} currency={currency} />,
    },
    {
      id: 'days',
      head: t('money.period'),
      kind: 'muted',
      cell: ({ period_days: days }) => format.period(days * 86_400),
    },
    {
      id: 'quota',
      head: t('money.quota'),
      kind: 'muted',
      cell: ({ quota }) =>
        quota
          .map(({ credits, seconds }) =>
            t('money.quotaOf', { credits: format.number(credits), period: format.period(seconds) }),
          )
          .join(', '),
    },
    useActionsColumn<Plan>((plan) => (
      <RowAction label={t('money.removeOne', { name: plan.code })} onClick={() => onRemove(plan)}>
        {t('money.remove')}
      </RowAction>
    )),
  ]
}
