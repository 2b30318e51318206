import { NumberInput, Radio } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useIdempotency } from '../../api/idempotency.ts'
import { useOrganisationId } from '../../api/session.ts'
import { beginTopUp, offersQuery } from '../../api/wallet.ts'
import { ChoiceCard, ChoiceCards } from '../../parts/forms/choice-card.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import forms from '../../parts/forms/form.module.css'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { present } from '../../parts/lists/search-fields.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { worthWords } from '../worth.ts'
import { useCurrencySign } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'

type Offers = NonNullable<Awaited<ReturnType<NonNullable<typeof offersQuery.queryFn>>>>

/** Tops up by a package or a chosen amount, on the payment provider's page. */
export function TopUpDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation()
  const offers = useQuery(offersQuery)
  return (
    <Dialog onClose={onClose} title={t('wallet.topUp')}>
      <Loaded query={offers} height={200}>
        {(data) => <TopUpForm offers={data} onClose={onClose} />}
      </Loaded>
    </Dialog>
  )
}

/** In place of a package's code: a chosen amount. */
const OWN_AMOUNT = ''

interface TopUpFormProps {
  readonly offers: Offers
  readonly onClose: () => void
}

function TopUpForm({ offers, onClose }: TopUpFormProps) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const format = useFormat()
  const { form, submit, isPending, problem, between } = useTopUp(offers)
  return (
    <FormFrame sending={{ submit, isPending, problem }} action={t('wallet.pay')} onClose={onClose}>
      <Radio.Group aria-label={t('wallet.topUp')} {...form.getInputProps('package')}>
        <ChoiceCards>
          {offers.packages.map((offered) => (
            <ChoiceCard
              key={offered.code}
              value={offered.code}
              title={offered.name}
              hint={worthWords(offered, { format, sign })}
            >
              {format.number(offered.price, 2)} {offers.currency}
            </ChoiceCard>
          ))}
          <ChoiceCard value={OWN_AMOUNT} title={t('wallet.ownAmount')} hint={t('wallet.ownAmountHint')} />
        </ChoiceCards>
      </Radio.Group>
      {form.values.package === OWN_AMOUNT && (
        <NumberInput
          label={t('wallet.amount')}
          suffix={` ${offers.currency}`}
          decimalScale={2}
          min={0}
          placeholder={between}
          {...form.getInputProps('amount_yuan')}
        />
      )}
      <p className={forms.hint}>{t('wallet.payHint')}</p>
    </FormFrame>
  )
}

function useTopUp(offers: Offers) {
  const { t } = useTranslation()
  const router = useRouter()
  const organisation = useOrganisationId()
  const once = useIdempotency()
  const { amount_min: least, amount_max: most } = offers
  const between = t('wallet.between', { least, most })
  const form = useForm<{ package: string; amount_yuan: string | number }>({
    initialValues: { package: offers.packages[0]?.code ?? OWN_AMOUNT, amount_yuan: '' },
    validate: {
      amount_yuan: (amount, { package: code }) =>
        code === OWN_AMOUNT && !(Number(amount) >= least && Number(amount) <= most) ? between : null,
    },
  })
  const sending = useSubmit(form, {
    send: ({ package: code, amount_yuan: amount }) => {
      const wanted = code === OWN_AMOUNT ? { amount_yuan: String(amount) } : { package: code }
      const back = router.buildLocation({ to: '/wallet', search: present({ org: organisation }) })
      const returnUrl = back.publicHref
      return beginTopUp(wanted, { organisation, once: once.header(wanted), returnUrl })
    },
    onDone: ({ checkout_url: address }) => {
      if (address !== null) window.location.assign(address)
    },
  })
  return { form, between, ...sending }
}
