"""What is known to differ from PyTorch, or to need another memory, and why."""
# What is known to differ, and why; a module that does not differ any more is told, and belongs out of here.
KNOWN = {}

# Of which memory is predicted worse than by 5 %, and why. What the Program that planscope runs does otherwise than PyTorch's
# operator is no error of the prediction.
_PRODUCT = "planscope computes a convolution whose windows do not overlap as a product: it has a copy of its operand, beside the input"
_LOSS_TYPE = "planscope computes the loss of 16-bit logits in float32"
_IN_PLACE = "planscope runs it out of place: its operand and its result are both there"
_STATISTICS = "planscope computes variances as sums: what is left of the mean is kept beside the operand, which something else reads too"
KNOWN_MEMORY = dict(
    adaptive_avg_one=_PRODUCT, attention_bias_of_heads="PyTorch's fused kernel takes no mask of three dimensions; planscope gives it one of four", bilinear_antialias=_PRODUCT, conv2d_patches=_PRODUCT, conv3d_stride=_PRODUCT,
    cross_entropy_bfloat16=_LOSS_TYPE, cross_entropy_float16=_LOSS_TYPE,
    cross_entropy_soft="planscope computes it from log-sum-exp: it never has the logarithms of all probabilities",
    instance_norm_running="PyTorch repeats weight, bias and running statistics for every instance; planscope does not",
    loss_multilabel_soft="log_sigmoid keeps a buffer on a CPU; on a GPU it keeps none",
    renorm_columns="PyTorch keeps some factors of each column beside the result",
    std_unbiased=_STATISTICS, var_two=_STATISTICS, wide_variance=_STATISTICS, wide_batch_norm_bfloat16=_STATISTICS,
    wide_conjugate="planscope carries conjugations out: PyTorch's is a view",
    wide_elu_in_place=_IN_PLACE, wide_leaky_in_place=_IN_PLACE,
    wide_log_sigmoid="log_sigmoid keeps a buffer on a CPU; on a GPU it keeps none",
    wide_separable=_PRODUCT,
)
