"""What vulture calls unused and is not: a name a line, and why. `make lint` reads it; nothing runs it."""

_.showwarning  # set on the module `warnings`, which calls it
_.inter_op_num_threads  # an option of onnxruntime's session
_.intra_op_num_threads  # an option of onnxruntime's session
_.enable_mem_pattern  # an option of onnxruntime's session
_.enable_mem_reuse  # another
_.log_severity_level  # an option of onnxruntime's session
_.ingest  # the library's way in; the command takes the source and the load apart
_.aadd  # called by programs with an event loop
_.handle_starttag  # called by Python's HTML parser
_.handle_endtag  # called by Python's HTML parser
_.handle_data  # called by Python's HTML parser
model_config  # read by pydantic
reply_to  # a column of memories, which are made of all of their columns
_._get_relevant_documents  # called by LangChain
_._retrieve  # called by LlamaIndex
_._aretrieve  # called by LlamaIndex
HopgateRetriever  # the name by which programs import a framework's retriever
_.itersize  # an attribute of psycopg's server-side cursor
_._repr_html_  # called by a notebook to show the value
grammar  # a field that is part of a cache's key, through asdict
_.rethreshold  # called in the notebook on clusters and in the guide
_.least_similar  # called in the notebook on clusters
embed_concepts  # a key of BuildOptions
with_context  # reads notes together without a store: for benchmarks/notes.py and whoever calls Phrases by itself
took_ms  # a field of an answer by HTTP
_.lifespan_context  # Starlette's router calls it when a server begins
edges_kept  # a field of an answer by HTTP
known_from  # a field of an answer by HTTP
edges_left_out  # a field of an answer by HTTP
_.merged_kind  # what a merged concept was: in the JSON of `hopgate concepts show`
_.list_commands  # called by click
_.get_command  # called by click
_.format_commands  # called by click
_.convert  # called by click
_.shell_complete  # called by click
several_valued  # a key of BuildOptions
linked_memories  # fields of `hopgate graph stats`
name_links  # fields of `hopgate graph stats`
invalidation_rate  # fields of `hopgate graph stats`
top_relations  # fields of `hopgate graph stats`
hubs  # fields of `hopgate graph stats`
components  # fields of `hopgate graph stats`
largest_component  # fields of `hopgate graph stats`
between_queries  # fields of `hopgate graph stats`
_.to_networkx  # public: the graph for networkx
_.api_keys  # a parameter of a GGUF that is run
_.endpoint_metrics  # a parameter of a GGUF that is run
_.endpoint_props  # a parameter of a GGUF that is run
_.endpoint_slots  # a parameter of a GGUF that is run
_.n_ctx  # a parameter of a GGUF that is run
_.n_parallel  # a parameter of a GGUF that is run
_.n_threads  # a parameter of a GGUF that is run
_.ui  # a parameter of a GGUF that is run
_.verbosity  # a parameter of a GGUF that is run
_.warmup  # a parameter of a GGUF that is run
tokens_of  # recall by late interaction will read it (issue 46)
