import { ActionIcon, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { actOnChain, type Chain, type ChainAct, type Probe, testChain } from '../../api/operator/chains.ts'
import { REFUSED_IN_FRAME } from '../../api/refusal.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { useAddress } from '../parts/use-address.ts'
import { useTranslation } from '../../texts/use-translation.ts'

type Asked = 'disable' | 'drain'

interface ChainActionsProps {
  readonly of: Chain
  readonly onTested: (probe: Probe | undefined) => void
}

/** The actions of a chain. */
export function ChainActions({ of, onTested }: ChainActionsProps) {
  const { t } = useTranslation()
  const [, , sheet] = useAddress()
  const [asking, ask] = useState<Asked>()
  const { act, test, renew } = useActs(of, onTested)
  const name = `${of.vendor} · ${of.forward_model_id}`
  return (
    <>
      <Menu width={220}>
        <Menu.Target>
          <ActionIcon
            size="sm"
            loading={test.isPending || act.isPending}
            aria-label={t('chains.more', { chain: name })}
          >
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="play" />} onClick={() => test.mutate()}>
            {t('chains.test')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="edit" />} onClick={() => sheet.open(String(of.id))}>
            {t('chains.edit')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="rotate" />} onClick={() => act.mutate('reset')}>
            {t('chains.reset')}
          </Menu.Item>
          <Switches of={of} onEnable={() => act.mutate('enable')} onAsk={ask} />
        </Menu.Dropdown>
      </Menu>
      {asking !== undefined && (
        <AskFirst
          act={asking}
          of={of}
          name={name}
          onDo={async () => {
            await actOnChain(of.id, asking)
            await renew()
          }}
          onClose={() => ask(undefined)}
        />
      )}
    </>
  )
}

function useActs(of: Chain, onTested: ChainActionsProps['onTested']) {
  const queryClient = useQueryClient()
  const renew = () => queryClient.invalidateQueries({ queryKey: ['chains'] })
  const act = useMutation({
    mutationFn: (what: ChainAct) => actOnChain(of.id, what),
    onSuccess: renew,
    meta: REFUSED_IN_FRAME,
  })
  const test = useMutation({
    mutationFn: () => testChain(of.id),
    onMutate: () => onTested(undefined),
    onSuccess: onTested,
    onSettled: renew,
    meta: REFUSED_IN_FRAME,
  })
  return { act, test, renew }
}

interface SwitchesProps {
  readonly of: Chain
  readonly onEnable: () => void
  readonly onAsk: (act: Asked) => void
}

function Switches({ of, onEnable, onAsk }: SwitchesProps) {
  const { t } = useTranslation()
  return (
    <>
      <Menu.Divider />
      {of.status !== 'enabled' && (
        <Menu.Item leftSection={<Icon name="done" />} onClick={onEnable}>
          {t('chains.enable')}
        </Menu.Item>
      )}
      {of.status === 'enabled' && (
        <Menu.Item leftSection={<Icon name="export" />} onClick={() => onAsk('drain')}>
          {t('chains.drain')}
        </Menu.Item>
      )}
      {of.status !== 'disabled' && (
        <Menu.Item data-danger leftSection={<Icon name="paused" />} onClick={() => onAsk('disable')}>
          {t('chains.disable')}
        </Menu.Item>
      )}
    </>
  )
}

interface AskFirstProps {
  readonly act: Asked
  readonly of: Chain
  readonly name: string
  readonly onDo: () => Promise<unknown>
  readonly onClose: () => void
}

function AskFirst({ act, of, name, onDo, onClose }: AskFirstProps) {
  const { t } = useTranslation()
  return (
    <Confirm
      title={t(`chains.${act}Title`)}
      action={t(`chains.${act}`)}
      danger={act === 'disable'}
      onConfirm={onDo}
      onClose={onClose}
    >
      <Marked text={t(`chains.${act}Text`, { chain: name, model: of.model_id })} />
    </Confirm>
  )
}
