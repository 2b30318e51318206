import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { AnyModel } from '../../api/operator/catalogue.ts'
import { type Chain, chainsQuery } from '../../api/operator/chains.ts'
import { changeModel } from '../../api/operator/models.ts'
import { Amount } from '../../parts/values/amount.tsx'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { CopyIcon } from '../../parts/snippets/copy-button.tsx'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Sheet } from '../../parts/forms/dialog.tsx'
import { type Fact, Facts } from '../../parts/lists/facts.tsx'
import { useFeatureWords } from '../../parts/values/features.ts'
import { useFormat } from '../../parts/values/format.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import page from '../../parts/page/page.module.css'
import { FormProblem } from '../../parts/page/problem.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { useProblemText } from '../../parts/page/use-problem.ts'
import operator from '../parts/operator.module.css'
import { earnedOf } from '../parts/earned.ts'
import { ModelForm } from './model-form.tsx'
import { Margin } from '../parts/margin.tsx'
import { billedPrices, ModelStateWord, stateOf, useAdmissionWords, usePriceText } from './model-words.tsx'
import { PriceForm } from './price-form.tsx'
import { PriceHistory } from './price-history.tsx'
import { useMargins, usePeriod } from './use-earned.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface ModelSheetProps {
  readonly of: AnyModel
  readonly onClose: () => void
}

type Asked = 'edit' | 'prices' | 'withdraw'

/** All details of a model: admission, prices, margin and price history. */
export function ModelSheet({ of, onClose }: ModelSheetProps) {
  const { t } = useTranslation()
  const [asked, ask] = useState<Asked>()
  const done = (): void => ask(undefined)
  return (
    <Sheet title={of.name} size={640} onClose={onClose}>
      <p className={sheet.words}>
        <ModelStateWord of={of} />
        <code>{of.model_id}</code>
        <CopyIcon value={of.model_id} label={t('copyId')} size="sm" />
      </p>
      <Tools of={of} onAsk={ask} />
      <Sums of={of} />
      <Prices of={of} />
      <About of={of} />
      <Chains of={of} />
      <PriceHistory of={of} />
      {asked === 'edit' && <ModelForm of={of} onClose={done} onMade={done} />}
      {asked === 'prices' && <PriceForm of={of} onClose={done} />}
      {asked === 'withdraw' && <Withdraw of={of} onClose={done} />}
    </Sheet>
  )
}

function useChange(of: AnyModel) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (status: 'enabled' | 'disabled') => changeModel(of.model_id, { status }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['any-models'] }),
  })
}

function Tools({ of, onAsk }: { readonly of: AnyModel; readonly onAsk: (what: Asked) => void }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const offering = useChange(of)
  return (
    <>
      <FormProblem text={offering.error === null ? undefined : problemText(offering.error)} />
      <div className={sheet.tools}>
        <Button leftSection={<Icon name="edit" />} onClick={() => onAsk('prices')}>
          {t('catalogue.changePrices')}
        </Button>
        <Button variant="default" leftSection={<Icon name="edit" />} onClick={() => onAsk('edit')}>
          {t('catalogue.edit')}
        </Button>
        {stateOf(of) === 'disabled' ? (
          <Button
            variant="default"
            loading={offering.isPending}
            leftSection={<Icon name="done" />}
            onClick={() => offering.mutate('enabled')}
          >
            {t('catalogue.offer')}
          </Button>
        ) : (
          <Button variant="default" leftSection={<Icon name="trash" />} onClick={() => onAsk('withdraw')}>
            {t('catalogue.withdraw')}
          </Button>
        )}
      </div>
    </>
  )
}

function Withdraw({ of, onClose }: ModelSheetProps) {
  const { t } = useTranslation()
  const withdrawing = useChange(of)
  return (
    <Confirm
      title={t('catalogue.withdrawTitle')}
      action={t('catalogue.withdraw')}
      onConfirm={() => withdrawing.mutateAsync('disabled')}
      onClose={onClose}
    >
      <Marked text={t('catalogue.withdrawText', { model: of.name })} />
    </Confirm>
  )
}

function Sums({ of }: { readonly of: AnyModel }) {
  const { t } = useTranslation()
  const format = useFormat()
  const margins = useMargins()
  const within = t(`calls.periods.${usePeriod()}`)
  const earned = earnedOf((margins ?? []).filter(({ model }) => model === of.model_id))
  return (
    <dl className={sheet.figures}>
      <div>
        <dd>{format.number(earned.calls)}</dd>
        <dt>{t('catalogue.callsWithin', { count: earned.calls, period: within })}</dt>
      </div>
      <div>
        <dd>
          <Amount value={earned.revenue} />
        </dd>
        <dt>{t('catalogue.revenue')}</dt>
      </div>
      <div>
        <dd>{earned.cost === undefined ? '–' : <Amount value={earned.cost} />}</dd>
        <dt>{t('catalogue.cost')}</dt>
      </div>
      <div>
        <dd>{earned.share === undefined ? '–' : format.percent(earned.share, 1)}</dd>
        <dt>{t('catalogue.margin')}</dt>
      </div>
    </dl>
  )
}

function Prices({ of: { pricing } }: { readonly of: AnyModel }) {
  const { t } = useTranslation()
  const priceOf = usePriceText()
  return (
    <section className={sheet.part}>
      <h3>{t('catalogue.prices')}</h3>
      <Facts
        rows={billedPrices(pricing).map((field) => [t(`operate.prices.${field}`), priceOf(pricing, field)])}
      />
    </section>
  )
}

function About({ of }: { readonly of: AnyModel }) {
  const { t } = useTranslation()
  const format = useFormat()
  const admission = useAdmissionWords()
  const features = useFeatureWords()
  const tokens = (count: number | null): string => (count === null ? '–' : format.number(count))
  const surcharges = Object.entries(of.surcharges).map(([name, value]) =>
    typeof value === 'object' ? `${name} +${value.per_call}` : `${name} × ${value}`,
  )
  const rows: readonly Fact[] = [
    [t('catalogue.admission'), admission(of)],
    [t('catalogue.plans'), t(of.subscription_covered ? 'catalogue.coveredByPlans' : 'catalogue.notCovered')],
    [t('catalogue.takes'), features(of.support_features)],
    [t('catalogue.context'), tokens(of.context_tokens)],
    [t('catalogue.longest'), tokens(of.max_output_tokens)],
    ...(surcharges.length === 0 ? [] : [[t('catalogue.surcharges'), surcharges.join(', ')] as const]),
    ...(of.refuse.length === 0 ? [] : [[t('catalogue.refused'), of.refuse.join(', ')] as const]),
    [t('catalogue.since'), format.moment(of.created_at)],
  ]
  return (
    <section className={sheet.part}>
      <h3>{t('catalogue.about')}</h3>
      <Facts rows={rows} />
    </section>
  )
}

/** Revenue and cost of each chain; where costs are unknown, a link to the page where they are entered. */
function Chains({ of }: { readonly of: AnyModel }) {
  const { t } = useTranslation()
  const { data: chains = [] } = useQuery(chainsQuery)
  const columns = useChainColumns()
  const rows = chains.filter(({ model_id: id }) => id === of.model_id)
  return (
    <section className={sheet.part}>
      <div className={sheet.partHead}>
        <h3>{t('catalogue.chains')}</h3>
        <Link to="/operate/chains" search={{ model: of.model_id }} className={page.link}>
          {t('catalogue.toChains')}
        </Link>
      </div>
      {rows.length === 0 ? (
        <p className={sheet.note}>{t('catalogue.noChains')}</p>
      ) : (
        <DataTable
          label={t('catalogue.chains')}
          rows={rows}
          idOf={({ id }) => String(id)}
          isQuiet={({ usable }) => !usable}
          columns={columns}
        />
      )}
    </section>
  )
}

function useChainColumns(): readonly Column<Chain>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const margins = useMargins() ?? []
  const earned = (id: number) => earnedOf(margins.filter(({ chain_id: own }) => own === id))
  return [
    {
      id: 'chain',
      head: t('catalogue.chain'),
      cell: ({ vendor, forward_model_id: forward }) => (
        <span className={operator.wrapped}>
          {vendor} · {forward}
        </span>
      ),
    },
    {
      id: 'calls',
      head: t('calls.calls'),
      kind: 'number',
      cell: ({ id }) => format.number(earned(id).calls),
    },
    {
      id: 'margin',
      head: t('catalogue.margin'),
      kind: 'number',
      cell: ({ id }) => <Margin of={earned(id)} />,
    },
  ]
}
