"""A model file, as deployments patch it."""


class DeepseekV2ForCausalLM:
    def forward(self, input_ids):
        return list(input_ids)


class DeepseekV3ForCausalLM(DeepseekV2ForCausalLM):
    pass


EntryClass = [DeepseekV2ForCausalLM, DeepseekV3ForCausalLM]
