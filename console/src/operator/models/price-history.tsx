import { Button } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { AnyModel } from '../../api/operator/catalogue.ts'
import { auditQuery, type AuditEntry } from '../../api/operator/audit.ts'
import { cancelPrices, type PriceChange, priceChangesQuery } from '../../api/operator/models.ts'
import { useFormat } from '../../parts/values/format.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { useProblemText } from '../../parts/page/use-problem.ts'
import operator from '../parts/operator.module.css'
import { pricingValuesOf } from '../parts/pricing-values.ts'
import { Differences } from '../parts/differences.tsx'
import type { FieldDifference } from '../parts/field-difference.ts'
import { usePriceName } from '../parts/use-price-name.tsx'
import { priceChanges, priceChangesIn } from './price-trail.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const ENTRIES = 100

/** Scheduled and past price changes of a model. */
export function PriceHistory({ of }: { readonly of: AnyModel }) {
  const { t } = useTranslation()
  const changes = useQuery(priceChangesQuery)
  const pending = (changes.data ?? []).filter(
    ({ model_id: id, status }) => id === of.model_id && status === 'pending',
  )
  return (
    <>
      {pending.length > 0 && (
        <section className={sheet.part}>
          <h3>{t('catalogue.toCome')}</h3>
          {pending.map((change) => (
            <ToCome key={change.id} change={change} of={of} />
          ))}
        </section>
      )}
      <section className={sheet.part}>
        <h3>{t('catalogue.history')}</h3>
        <Past model={of.model_id} />
      </section>
    </>
  )
}

function ToCome({ change, of }: { readonly change: PriceChange; readonly of: AnyModel }) {
  const { t } = useTranslation()
  const format = useFormat()
  const nameOf = usePriceName()
  const { currency } = of.pricing
  const fields = priceChanges(
    pricingValuesOf(of.pricing, currency),
    pricingValuesOf(change.pricing, currency),
  )
  return (
    <div className={operator.card}>
      <div className={operator.cardHead}>
        <b>{t('catalogue.fromMoment', { moment: format.moment(change.effective_at) })}</b>
        <CancelPrices of={change} />
      </div>
      <Differences nameOf={nameOf} label={t('catalogue.toCome')} of={fields} />
    </div>
  )
}

export function CancelPrices({ of }: { readonly of: PriceChange }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const queryClient = useQueryClient()
  const cancelling = useMutation({
    mutationFn: () => cancelPrices(of.id),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['price-changes'] }),
  })
  return (
    <>
      <FormProblem text={cancelling.error === null ? undefined : problemText(cancelling.error)} />
      <Button variant="default" size="xs" loading={cancelling.isPending} onClick={() => cancelling.mutate()}>
        {t('catalogue.cancelChange')}
      </Button>
    </>
  )
}

/** Past changes from the audit log: who, when, before and after. */
function Past({ model }: { readonly model: string }) {
  const { t } = useTranslation()
  const own = useInfiniteQuery(auditQuery({ subject: model, limit: ENTRIES }))
  // Imports change the prices of several models in one entry.
  const taken = useInfiniteQuery(auditQuery({ subject: 'prices', limit: ENTRIES }))
  return (
    <Loaded query={own} height={80}>
      {({ pages }) => {
        const entries = [...pages, ...(taken.data?.pages ?? [])].flatMap(({ data }) => data)
        const past = entries
          .map((entry) => ({ entry, fields: priceChangesIn(entry, model) }))
          .filter(({ fields }) => fields.length > 0)
          .toSorted(({ entry: one }, { entry: other }) => other.sequence - one.sequence)
        return past.length === 0 ? (
          <p className={sheet.note}>{t('catalogue.noHistory')}</p>
        ) : (
          past.map(({ entry, fields }) => <OneChange key={entry.sequence} of={entry} fields={fields} />)
        )
      }}
    </Loaded>
  )
}

interface OneChangeProps {
  readonly of: AuditEntry
  readonly fields: readonly FieldDifference[]
}

function OneChange({ of, fields }: OneChangeProps) {
  const { t } = useTranslation()
  const nameOf = usePriceName()
  const format = useFormat()
  return (
    <div>
      <p className={sheet.note}>{t('catalogue.by', { moment: format.moment(of.at), name: of.actor.name })}</p>
      <Differences nameOf={nameOf} label={t('catalogue.history')} of={fields} />
    </div>
  )
}
