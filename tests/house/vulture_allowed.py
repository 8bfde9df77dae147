"""What vulture calls unused and is not: names with one reason a line. `make lint` reads it; nothing runs it."""

_.showwarning  # set on the module `warnings`, which calls it
_.inter_op_num_threads, _.intra_op_num_threads, _.enable_mem_pattern  # an option of onnxruntime's session
_.enable_mem_reuse, _.log_severity_level  # an option of onnxruntime's session
_.aadd, _.arecall_many  # called by programs with an event loop
_.handle_starttag, _.handle_endtag, _.handle_data  # called by Python's HTML parser
model_config  # read by pydantic
reply_to  # a column of memories, which are made of all of their columns
evidence_memory_ids, changes_by, checksum  # columns of rows that are written or compared as a whole
_._get_relevant_documents  # called by LangChain
_._retrieve, _._aretrieve, _._aget, _._aput  # called by LlamaIndex
HopgateMemory  # the name by which programs import LlamaIndex's memory
HopgateRetriever  # the name by which programs import a framework's retriever
HopgateStore  # the same of LangGraph's store
_.abatch  # called by LangGraph
_.itersize  # an attribute of psycopg's server-side cursor
_.text_factory  # an attribute of SQLite's connection
grammar  # a field that is part of a cache's key, through asdict
_.concept_vectors  # called in the notebook on clusters
several_valued, include_superseded  # a key of BuildOptions, of AskOptions
took_ms, known_from, known_to, edges_left_out  # a field of an answer by HTTP
_.lifespan_context  # Starlette's router calls it when a server begins
_.merged_kind  # what a merged concept was: in the JSON of `hopgate concepts show`
_.list_commands, _.get_command, _.format_commands, _.convert, _.shell_complete  # called by click
linked_memories, invalidation_rate, top_relations, hubs, components  # fields of `hopgate graph stats`
largest_component, between_queries  # fields of `hopgate graph stats`
_.to_networkx  # public: the graph for networkx
_.api_keys, _.endpoint_metrics, _.endpoint_props, _.endpoint_slots, _.n_ctx  # a parameter of a GGUF that is run
_.n_parallel, _.n_threads, _.ui, _.verbosity, _.warmup  # a parameter of a GGUF that is run
