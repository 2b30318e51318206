import { Checkbox, PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { addFromPreset, type Preset } from '../../api/operator/models.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import form from '../../parts/forms/form.module.css'
import { useFormat } from '../../parts/values/format.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { priceText } from '../../parts/values/price-text.ts'
import { State } from '../../parts/marks/state.tsx'
import table from '../../parts/lists/table.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import styles from './models.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

interface PresetSheetProps {
  readonly of: Preset
  readonly onClose: () => void
}

type PresetModel = Preset['models'][number]
type PresetValues = { readonly models: string[]; readonly key: string }

/** Adds models of a known vendor with its list prices; models that exist already are not changed. */
export function PresetSheet({ of, onClose }: PresetSheetProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const values = useForm<PresetValues>({
    initialValues: { models: [], key: '' },
    validate: { models: (chosen) => (chosen.length === 0 ? t('catalogue.choiceWanted') : null) },
  })
  const sending = useSubmit(values, {
    send: (next) => addFromPreset(of.code, { models: next.models, key: next.key.trim() }),
    onDone: () => {
      for (const key of ['presets', 'any-models', 'vendors', 'credentials', 'chains'])
        inBackground(queryClient.invalidateQueries({ queryKey: [key] }))
      onClose()
    },
  })
  const { models: chosen } = values.values
  const needsKey = !of.has_key && of.variable !== null && !of.in_catalogue
  const choose = (ids: readonly string[]): void => values.setFieldValue('models', [...ids])
  const columns = useColumns(of.models, { chosen, choose })
  return (
    <FormSheet
      title={of.name}
      action={t('catalogue.addChosen', { count: chosen.length })}
      sending={{
        ...sending,
        problem:
          sending.problem ??
          (values.errors['models'] === undefined ? undefined : t('catalogue.choiceWanted')),
      }}
      onClose={onClose}
    >
      <p className={form.words}>{t('catalogue.presetLead')}</p>
      <DataTable
        label={t('catalogue.presetModels')}
        columns={columns}
        rows={of.models}
        idOf={({ model_id: id }) => id}
        isQuiet={({ in_catalogue: known }) => known}
      />
      {(needsKey || values.errors['key'] !== undefined) && <KeyField {...values.getInputProps('key')} />}
    </FormSheet>
  )
}

function KeyField(props: PasswordInputProps) {
  const { t } = useTranslation()
  return (
    <PasswordInput
      label={t('catalogue.vendorKey')}
      description={t('catalogue.vendorKeyHint')}
      autoComplete="off"
      visibilityToggleButtonProps={{ 'aria-label': t('showPassword') }}
      {...props}
    />
  )
}

interface Choice {
  readonly chosen: readonly string[]
  readonly choose: (ids: readonly string[]) => void
}

function useColumns(
  models: readonly PresetModel[],
  { chosen, choose }: Choice,
): readonly Column<PresetModel>[] {
  const { t } = useTranslation()
  const open = models.filter(({ in_catalogue: known }) => !known).map(({ model_id: id }) => id)
  return [
    {
      id: 'choose',
      head:
        open.length === 0 ? (
          <span className={table.unseen}>{t('catalogue.chosen')}</span>
        ) : (
          <Checkbox
            size="xs"
            aria-label={t('catalogue.chooseAll')}
            checked={chosen.length === open.length}
            indeterminate={chosen.length > 0 && chosen.length < open.length}
            onChange={({ currentTarget: { checked } }) => choose(checked ? open : [])}
          />
        ),
      cell: ({ model_id: id, in_catalogue: known }) =>
        known ? null : (
          <Checkbox
            size="xs"
            aria-label={t('catalogue.choose', { model: id })}
            checked={chosen.includes(id)}
            onChange={({ currentTarget: { checked } }) =>
              choose(checked ? [...chosen, id] : chosen.filter((each) => each !== id))
            }
          />
        ),
    },
    { id: 'model', head: t('calls.model'), cell: (model) => <Name of={model} /> },
    {
      id: 'price',
      head: t('catalogue.inOut'),
      kind: 'number',
      cell: ({ price }) => <ListPrice of={price} />,
    },
  ]
}

function Name({ of: { model_id: id, name, in_catalogue: known } }: { readonly of: PresetModel }) {
  const { t } = useTranslation()
  return (
    <>
      <span className={table.first}>{name}</span>
      {known ? (
        <State icon="done" tone="good">
          {t('catalogue.isHere')}
        </State>
      ) : (
        <span className={table.second}>
          <code>{id}</code>
        </span>
      )}
    </>
  )
}

/** The date of the price list, and how reliable it is. */
function ListPrice({ of: price }: { readonly of: PresetModel['price'] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const listPrice = useListPrice()
  const source = t(`catalogue.confidences.${confidenceOf(price)}`)
  return (
    <span className={styles.listPrice} title={price.note ?? undefined}>
      <span className={table.first}>{listPrice(price)}</span>
      <span className={table.second}>{t('catalogue.asOf', { day: format.date(price.date), source })}</span>
    </span>
  )
}

const CONFIDENCES = ['vendor', 'third-party', 'unverified'] as const

function confidenceOf({ confidence }: PresetModel['price']): (typeof CONFIDENCES)[number] {
  return CONFIDENCES.find((each) => each === confidence) ?? 'unverified'
}

/** Units other than tokens, and the price field of each. */
const EACH = [
  ['image', 'image_price'],
  ['video_second', 'video_price'],
  ['request', 'request_price'],
  ['million_characters', 'character_price'],
  ['audio_second', 'audio_second_price'],
] as const

function useListPrice(): (price: PresetModel['price']) => string {
  const { t } = useTranslation()
  const { language } = useFormat()
  return (price) => {
    const text = (value: string | null): string =>
      value === null ? '–' : priceText(Number(value), price.currency, language)
    const others = EACH.flatMap(([name, field]) =>
      price[name] === null ? [] : [`${text(price[name])} ${t(`operate.each.${field}`)}`],
    )
    const isByToken = price.input !== null || price.output !== null || others.length === 0
    return [...(isByToken ? [`${text(price.input)} / ${text(price.output)}`] : []), ...others].join(', ')
  }
}
